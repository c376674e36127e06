/**
 * Thrown if the user cancels a dialog. It ends the action that opened the dialog, and is not shown
 * as an error.
 */
export class CancelledError extends Error {}
