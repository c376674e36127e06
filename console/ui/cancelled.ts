/** What the user was asked on the way of an act was cancelled: nothing failed, nothing is told. */
export class Cancelled extends Error {}
