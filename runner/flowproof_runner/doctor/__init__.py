"""`flowproof doctor`: does an agent reach the boundary, and what else does it do?"""
