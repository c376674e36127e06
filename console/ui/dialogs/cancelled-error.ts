/** Thrown if the user cancels a dialog. It ends an action, but is not shown as an error. */
export class CancelledError extends Error {}
