/** Thrown if the user cancels a dialog within an action; it is not shown as an error. */
export class Cancelled extends Error {}
