// Nothing that a script writes to is a terminal.
export const isatty = () => false;
