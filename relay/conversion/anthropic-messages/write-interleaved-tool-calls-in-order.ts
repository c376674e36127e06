import type { CanonicalEvent } from '../../canonical/canonical-answer.ts'
import { HELD_BACK_CHARACTERS_MAX } from '../memory-of-stream-writers.ts'

/** An event that belongs to one part of the answer. */
export type PartEvent = Extract<CanonicalEvent, { readonly part: number }>

/** A tool call whose events are held back until the calls before it are complete. */
type WaitingCall = { readonly part: number; readonly events: PartEvent[] }

const WAITING_EVENTS_MAX = 100_000

/**
 * Puts the events of interleaved tool calls in the order of the calls, because Anthropic's stream
 * has only one open block at a time. `add` returns the events of the first call at once. The events
 * of each later call are held back until the arguments of the call before it are complete.
 */
export class InterleavedCalls {
  private waiting: WaitingCall[] = []
  private current: { readonly part: number; readonly end: JsonEndDetector } | null = null
  private waitingCharacters = 0
  private waitingEvents = 0

  /**
   * Returns the events that can be written now. Returns null if the events that are held back
   * exceed a limit.
   */
  add(event: PartEvent): readonly PartEvent[] | null {
    if (event.kind === 'tool-arguments') return this.addArguments(event)
    if (event.kind !== 'tool-call') return [...this.finish(), event]
    if (this.current !== null && !this.current.end.isComplete) return this.wait(event)
    return [...this.finish(), this.begin(event)]
  }

  /**
   * Returns all events that are held back. Must be called when no more events of these tool calls
   * are expected.
   */
  finish(): readonly PartEvent[] {
    const events = this.waiting.flatMap((call) => call.events)
    this.waiting = []
    this.waitingCharacters = 0
    this.waitingEvents = 0
    this.current = null
    return events
  }

  private addArguments(event: PartEvent & { kind: 'tool-arguments' }) {
    if (this.current === null) return []
    if (event.part !== this.current.part) return this.wait(event)
    this.current.end.add(event.json)
    return [event, ...this.releaseComplete()]
  }

  private begin(event: PartEvent): PartEvent {
    this.current = { part: event.part, end: new JsonEndDetector() }
    return event
  }

  private wait(event: PartEvent): readonly PartEvent[] | null {
    const call = this.waiting.find(({ part }) => part === event.part)
    if (call !== undefined) call.events.push(event)
    else if (event.kind === 'tool-call') this.waiting.push({ part: event.part, events: [event] })
    else return []
    this.waitingEvents += 1
    this.waitingCharacters += event.kind === 'tool-arguments' ? event.json.length : 0
    const isTooMuch =
      this.waitingCharacters > HELD_BACK_CHARACTERS_MAX || this.waitingEvents > WAITING_EVENTS_MAX
    return isTooMuch ? null : []
  }

  /**
   * If the current call is complete, returns the events of the waiting calls, in order. The first
   * call that is not complete becomes the current call, and its events are the last that are
   * returned.
   */
  private releaseComplete(): PartEvent[] {
    const released: PartEvent[] = []
    while (this.current?.end.isComplete) {
      const next = this.waiting.shift()
      if (next === undefined) break
      this.current = { part: next.part, end: new JsonEndDetector() }
      for (const event of next.events) {
        released.push(event)
        this.waitingEvents -= 1
        if (event.kind !== 'tool-arguments') continue
        this.waitingCharacters -= event.json.length
        this.current.end.add(event.json)
      }
    }
    return released
  }
}

/** Detects the end of a JSON object or array whose text arrives in pieces. */
class JsonEndDetector {
  private depth = 0
  private isInString = false
  private isEscaped = false
  private hasBegun = false

  /** True once the text contains a complete object or array. */
  get isComplete(): boolean {
    return this.hasBegun && this.depth === 0
  }

  add(piece: string): void {
    for (const character of piece) {
      if (this.isInString) this.addToString(character)
      else this.addOutside(character)
    }
  }

  private addToString(character: string): void {
    if (this.isEscaped) this.isEscaped = false
    else if (character === '\\') this.isEscaped = true
    else if (character === '"') this.isInString = false
  }

  private addOutside(character: string): void {
    if (character === '"') this.isInString = true
    else if (character === '{' || character === '[') {
      this.depth += 1
      this.hasBegun = true
    } else if ((character === '}' || character === ']') && this.depth > 0) this.depth -= 1
  }
}
