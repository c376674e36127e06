/**
 * Remembers the ids that were added last, and forgets older ones. An empty id is not kept, because
 * it can't be recognized again.
 */
export class LatestIds {
  private readonly ids = new Set<string>()
  private readonly most: number

  constructor(most = 256) {
    this.most = most
  }

  add(id: string): void {
    if (id !== '') this.ids.add(id)
    const [oldest] = this.ids
    if (this.ids.size > this.most && oldest !== undefined) this.ids.delete(oldest)
  }

  has(id: string): boolean {
    return this.ids.has(id)
  }
}
