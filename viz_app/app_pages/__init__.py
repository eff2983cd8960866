"""Pages, one file each: widgets in, one call, figures out.

The folder is not named `pages`: Streamlit would take that for its older way of many pages, and run the page that is
opened first without `main.py`.
"""
