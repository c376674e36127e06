import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'

/** Converts the log probabilities in `logprobsResult` to OpenAI's chat format. */
export function readLogprobs(value: unknown): readonly JsonObject[] {
  if (!isObject(value) || !Array.isArray(value.chosenCandidates)) return []
  const tops = Array.isArray(value.topCandidates) ? value.topCandidates : []
  return value.chosenCandidates.filter(isObject).map((chosen, index) => {
    const top = isObject(tops[index]) ? tops[index].candidates : []
    return {
      ...tokenOf(chosen),
      top_logprobs: Array.isArray(top) ? top.filter(isObject).map(tokenOf) : [],
    }
  })
}

function tokenOf({ token, logProbability }: JsonObject): JsonObject {
  const text = typeof token === 'string' ? token : ''
  const logprob = typeof logProbability === 'number' ? logProbability : 0
  return { token: text, logprob, bytes: [...Buffer.from(text)] }
}

/** Converts log probabilities in OpenAI's chat format to `logprobsResult`. */
export function writeLogprobs(tokens: readonly JsonObject[]): JsonObject {
  return {
    chosenCandidates: tokens.map(candidateOf),
    topCandidates: tokens.map(({ top_logprobs: top }) => ({
      candidates: Array.isArray(top) ? top.filter(isObject).map(candidateOf) : [],
    })),
  }
}

const candidateOf = ({ token, logprob }: JsonObject): JsonObject => ({
  token: typeof token === 'string' ? token : '',
  logProbability: typeof logprob === 'number' ? logprob : 0,
})
