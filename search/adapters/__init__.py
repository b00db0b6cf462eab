"""What keeps an index. Each engine is a module, which needs an extra of the distribution; nothing else knows it.

tantivy_index   an index in a folder of this machine      generations   that folder, and who writes to it
book            what is remembered beside an index
"""
