"""Protocols of the server: one file for each, and the OpenAPI document of the routes."""
