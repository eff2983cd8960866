"""The commands `analyse NAME`: each declares its texts, options, measurement and table in `analysis.Analysis`."""
