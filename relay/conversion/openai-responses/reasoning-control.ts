import type { JsonObject } from '#relay/canonical/json-values.ts'
import { ConversionError, type Thinking } from '../../canonical/canonical-request.ts'
import {
  chooseEffort,
  EFFORT_NONE,
  EFFORTS,
  type EffortChoice,
  effortsOf,
} from '../choose-effort-for-openai-model.ts'
import { addLoss, addUnreadMembers } from '../collect-losses.ts'
import { isAbsent, optionalObject, optionalText } from '../read-json-values-strictly.ts'

const MEMBERS = new Set(['effort', 'summary', 'generate_summary'])

/**
 * Reads `reasoning`. A summary other than `auto` is reported as lost, because in other formats a
 * request can't choose how detailed the summary is.
 */
export function readReasoning(value: unknown, losses: string[]): Thinking | null {
  const reasoning = optionalObject(value, 'reasoning')
  if (reasoning === null) return null
  addUnreadMembers(reasoning, MEMBERS, 'reasoning', losses)
  for (const name of ['summary', 'generate_summary']) {
    const summary = reasoning[name]
    if (!isAbsent(summary) && summary !== 'auto') addLoss(losses, `reasoning.${name}`)
  }
  const text = optionalText(reasoning.effort, 'reasoning.effort')
  if (text === null) return null
  if (text === EFFORT_NONE) return { kind: 'off' }
  const effort = EFFORTS.find((each) => each === text)
  if (effort !== undefined) return { kind: 'effort', effort }
  throw new ConversionError('reasoning.effort', 'The reasoning effort is unknown.')
}

type ReasoningMembers = Pick<EffortChoice, 'acceptsSampling'> & {
  readonly reasoning: JsonObject | null
  /**
   * True if encrypted reasoning is requested. False if the model does not reason, or if the model
   * is unknown and the request does not state how much to think. A model that does not reason would
   * reject the request.
   */
  readonly hasEncryptedContent: boolean
}

/**
 * Writes `reasoning` for the model. A summary is requested, because callers expect to receive the
 * thinking.
 */
export function writeReasoning(
  thinking: Thinking | null,
  model: string,
  losses: string[],
): ReasoningMembers {
  const accepted = effortsOf(model)
  const { effort, acceptsSampling } = chooseEffort(thinking, accepted, losses)
  if (accepted?.length === 0) {
    return { reasoning: null, hasEncryptedContent: false, acceptsSampling }
  }
  if (thinking === null) {
    return { reasoning: null, hasEncryptedContent: accepted !== null, acceptsSampling }
  }
  const summary = effort === EFFORT_NONE ? {} : { summary: 'auto' }
  return {
    reasoning: { ...(effort === null ? {} : { effort }), ...summary },
    hasEncryptedContent: effort !== EFFORT_NONE,
    acceptsSampling,
  }
}
