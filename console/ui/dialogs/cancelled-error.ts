/** Thrown if the user cancels a dialog. Not shown as an error. */
export class CancelledError extends Error {}
