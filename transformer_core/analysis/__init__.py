"""Measures of attention heads, interventions, and attribution."""
