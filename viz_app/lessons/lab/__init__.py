"""The Lab: words, numbers and scenes. A bench is a scene on the lessons' stage; the page is `app_pages/lab.py`."""
