"""What keeps an index. Each engine is a module, which needs an extra of the distribution; nothing else knows it.

tantivy_index   an index in a folder of this machine
"""
