/**
 * Thrown if the user cancels a dialog that an action has opened. This exception is not shown as an
 * error.
 */
export class CancelledError extends Error {}
