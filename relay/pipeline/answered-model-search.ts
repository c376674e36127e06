import { answeredModelIn } from '../dialects/model-name-in-answer.ts'
import type { WireFormat } from '../dialects/wire-format.ts'

/** The number of events at the start of a stream that are searched for the model's name. */
const MODEL_EVENTS_MAX = 8

/** Searches the first events of a stream for the name of the model that answers. */
export class AnsweredModelSearch {
  model: string | undefined
  private searchesLeft = MODEL_EVENTS_MAX
  private readonly format: WireFormat

  constructor(format: WireFormat) {
    this.format = format
  }

  /** Searches an event, unless the name was found or enough events were searched. */
  search(bytes: Buffer): void {
    if (this.searchesLeft === 0) return
    this.searchesLeft -= 1
    this.note(answeredModelIn(this.format, bytes))
  }

  /** Stores the model's name in an event. An empty name, as in Azure's first event, is ignored. */
  note(model: unknown): void {
    if (typeof model !== 'string' || model === '') return
    this.model = model
    this.searchesLeft = 0
  }
}
