import {
  FIRST_GEMINI_VERSION_WITH_THINKING,
  OPENAI_REASONING,
} from '../adapters/thinking-suffix-of-model-name.ts'
import { readModelVersion } from '../conversion/gemini/model-version.ts'
import type { AnswerForwarder } from './answer-forwarder-types.ts'
import { AudioForwarder } from './audio-forwarder.ts'
import type { Candidate } from './prepare-request-for-channel.ts'
import { asksToThink, turnsThinkingOff } from './thinking-beyond-output-limit.ts'

type Reasoner = Pick<Candidate, 'upstreamModel'> & {
  readonly request: Pick<Candidate['request'], 'body' | 'members' | 'model' | 'suffix'>
}

/** Matches models of OpenAI and Google that reason only if a request asks for it. */
const REASONS_IF_ASKED = /gpt-5\.[1-9](?!.*(?:codex|pro))|gemini-2\.5-flash-(?:lite|image)/

/**
 * Reports whether a stream must be read for its usage after its caller has disconnected. This is
 * the case if only the usage is missing from the stream, if the stream is always read to its end,
 * or if only the usage shows how much the model reasoned, possibly before the first event. Returns
 * false if the caller gets a plain answer, or an answer without usage such as audio.
 */
export function mustReadUsage(
  forwarder: Pick<AnswerForwarder, 'isFinished'> | null,
  candidate: Reasoner | null,
): boolean {
  if (forwarder === null || forwarder instanceof AudioForwarder || candidate === null) return false
  return forwarder.isFinished() || mayHideReasoning(candidate)
}

/**
 * Reports whether the provider may charge for reasoning that the answer shows only in part or not
 * at all. Claude and the models in `REASONS_IF_ASKED` reason only if the request asks for it. The
 * other reasoning models of OpenAI and Google reason unless the request turns reasoning off. The
 * models of other vendors show all their reasoning.
 */
export function mayHideReasoning({ request, upstreamModel }: Reasoner): boolean {
  const { suffix } = request
  if (suffix?.thinking.kind === 'off' || turnsThinkingOff(request)) return false
  const isAsked = suffix !== undefined || asksToThink(request)
  // The provider's name may be the name of a deployment. Such a name says nothing about the model.
  return [request.model, upstreamModel ?? ''].some((name) => {
    const model = name.toLowerCase().replace(/^ft:/, '')
    if (model.includes('claude') || REASONS_IF_ASKED.test(model)) return isAsked
    const { version } = readModelVersion(model)
    return OPENAI_REASONING.test(model) || (version ?? 0) >= FIRST_GEMINI_VERSION_WITH_THINKING
  })
}
