/** Thrown if the user cancels a dialog that an action has opened. It is not shown as an error. */
export class CancelledError extends Error {}
