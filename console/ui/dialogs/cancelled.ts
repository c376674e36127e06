/** The user cancelled a question on the way of an action: nothing failed, nothing is shown. */
export class Cancelled extends Error {}
