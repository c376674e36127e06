export type JournalEntry = {
  readonly number: number
  readonly model: string
  readonly isStream: boolean
  /**
   * The first 200 characters of the last message in the request. A test puts a unique text there to
   * find the request in the journal.
   */
  readonly mark: string
  readonly authorization: string
  readonly requestId: string
  status: number | null
  /**
   * The end of the request: `answered` (the last byte was written), `failed` (the provider sent an
   * error), `cut` (the provider closed the connection early) or `caller-gone` (the client closed
   * the connection). `open` while the request is in progress.
   */
  outcome: 'open' | 'answered' | 'failed' | 'cut' | 'caller-gone'
  promptTokens: number
  completionTokens: number
  chunksSent: number
}

export class Journal {
  readonly entries: JournalEntry[] = []
  readonly #limit: number
  #count = 0

  constructor(limit = 1_000_000) {
    this.#limit = limit
  }

  open(
    request: Pick<JournalEntry, 'model' | 'isStream' | 'mark' | 'authorization' | 'requestId'>,
  ): JournalEntry {
    this.#count += 1
    const entry: JournalEntry = {
      ...request,
      number: this.#count,
      status: null,
      outcome: 'open',
      promptTokens: 0,
      completionTokens: 0,
      chunksSent: 0,
    }
    this.entries.push(entry)
    if (this.entries.length > this.#limit * 1.1) this.entries.splice(0, this.#limit * 0.1)
    return entry
  }

  get count(): number {
    return this.#count
  }
}
