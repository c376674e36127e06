/**
 * Thrown if the user cancels a dialog. It ends the action that asked, but is not shown as an error.
 */
export class CancelledError extends Error {}
