/** Thrown if the user cancels a dialog. It is not shown as an error. */
export class Cancelled extends Error {}
