export const BODY_BYTES_MAX = 32 * 1024 * 1024
export const BODIES_BYTES_MAX = 512 * 1024 * 1024

/** Bytes of request bodies held at once, over all calls. */
export class BodyMemory {
  private held = 0
  private readonly most: number

  constructor(most: number = BODIES_BYTES_MAX) {
    this.most = most
  }

  /** False when there is no room; else `giveBack` the same number later. */
  take(bytes: number): boolean {
    if (this.held + bytes > this.most) return false
    this.held += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.held -= bytes
  }
}
