"""What an outcome means for a URL: verdict, row, page, next ticket, revisit.

Pure but for the effects that page_writer.py is given. Imports robots and below.
"""
