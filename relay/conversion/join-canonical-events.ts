import type { JsonObject } from '#relay/canonical/json-values.ts'
import type {
  AnswerPart,
  CanonicalAnswer,
  CanonicalChoice,
  CanonicalEvent,
  CanonicalUsage,
} from '../canonical/canonical-answer.ts'
import type { ThinkingPart } from '../canonical/canonical-request.ts'

type PartEvent = Extract<CanonicalEvent, { part: number }>
type Choice = {
  readonly parts: Map<number, AnswerPart>
  stop: CanonicalChoice['stop'] | null
  stopSequence: string | null
  logprobs: JsonObject[] | null
}

/**
 * Joins the events of one answer. A choice without a stop reason gets `tool-calls` if it has tool
 * calls, and `end` otherwise.
 */
export function joinEventsToAnswer(events: readonly CanonicalEvent[]): CanonicalAnswer {
  let id = ''
  let model = ''
  let usage: CanonicalUsage | null = null
  const choices = new Map<number, Choice>()
  const choiceAt = (index: number): Choice => {
    const choice = choices.get(index) ?? {
      parts: new Map(),
      stop: null,
      stopSequence: null,
      logprobs: null,
    }
    choices.set(index, choice)
    return choice
  }
  for (const event of events) {
    if (event.kind === 'start') ({ id, model } = event)
    else if (event.kind === 'usage') usage = event.usage
    else if (event.kind === 'logprobs') {
      const choice = choiceAt(event.choice)
      choice.logprobs = [...(choice.logprobs ?? []), ...event.tokens]
    } else if (event.kind === 'stop') {
      const { stop, stopSequence } = event
      Object.assign(choiceAt(event.choice), { stop, stopSequence })
    } else if ('part' in event) {
      const { parts } = choiceAt(event.choice)
      const part = addEvent(parts.get(event.part), event)
      if (part !== null) parts.set(event.part, part)
    }
  }
  const sorted = [...choices].sort(([a], [b]) => a - b)
  return { id, model, usage, choices: sorted.map(([, choice]) => finishChoice(choice)) }
}

function finishChoice({ parts, stop, stopSequence, logprobs }: Choice): CanonicalChoice {
  const list = [...parts].sort(([a], [b]) => a - b).map(([, part]) => part)
  const hasCalls = list.some(({ kind }) => kind === 'tool-call')
  return { parts: list, stop: stop ?? (hasCalls ? 'tool-calls' : 'end'), stopSequence, logprobs }
}

/**
 * Returns the part with one event added. If the part is undefined or has another kind than the
 * event, the event replaces the part. The beginning of a tool call always replaces the part.
 * Arguments for a part that is not a tool call give null instead.
 */
function addEvent(part: AnswerPart | undefined, event: PartEvent): AnswerPart | null {
  switch (event.kind) {
    case 'text': {
      const text = part?.kind === 'text' ? part : { kind: event.kind, text: '' }
      const signature = event.signature === undefined ? {} : { signature: event.signature }
      return { ...text, text: text.text + event.text, ...signature }
    }
    case 'refusal': {
      const refusal = part?.kind === 'refusal' ? part : { kind: event.kind, text: '' }
      return { ...refusal, text: refusal.text + event.text }
    }
    case 'tool-call': {
      const { id, name, signature } = event
      const call = { kind: event.kind, id, name, argumentsJson: '' }
      return signature === undefined ? call : { ...call, signature }
    }
    case 'tool-arguments':
      return part?.kind === 'tool-call'
        ? { ...part, argumentsJson: part.argumentsJson + event.json }
        : null
    default:
      return addThoughtEvent(
        part?.kind === 'thinking' ? part : { kind: 'thinking', text: '' },
        event,
      )
  }
}

type ThoughtEvent = Extract<
  CanonicalEvent,
  { kind: 'thinking' | 'thinking-signature' | 'thinking-redacted' }
>

/** Returns the thought with one event added. */
export function addThoughtEvent(thought: ThinkingPart, event: ThoughtEvent): ThinkingPart {
  if (event.kind === 'thinking') return { ...thought, text: thought.text + event.text }
  if (event.kind === 'thinking-redacted') return { ...thought, redacted: event.data }
  return { ...thought, signature: event.signature }
}
