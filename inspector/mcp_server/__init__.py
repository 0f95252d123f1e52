"""The MCP server: what the pages show, for coding agents. Reads only.

Empty on purpose: the SDK takes a second to import, which only those pay who speak MCP.
"""
