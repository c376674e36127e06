/**
 * What one attempt used, in the units that are priced, whatever the provider's format. All whole,
 * 0 or more. `output` includes `reasoning` and `outputAudio`; the inputs are disjoint.
 */
export type Usage = {
  readonly inputUncached: number
  readonly cacheRead: number
  readonly cacheWrite5m: number
  readonly cacheWrite1h: number
  readonly inputAudio: number
  readonly inputImage: number
  readonly output: number
  readonly reasoning: number
  readonly outputAudio: number
  readonly toolCalls: number
  readonly images: number
  readonly seconds: number
  readonly characters: number
  readonly searchUnits: number
}

/** Where the numbers came from: the provider, our own count, or what was seen before a cut. */
export type UsageSource = 'upstream' | 'estimated' | 'partial'

export const NO_USAGE: Usage = Object.freeze({
  inputUncached: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  inputAudio: 0,
  inputImage: 0,
  output: 0,
  reasoning: 0,
  outputAudio: 0,
  toolCalls: 0,
  images: 0,
  seconds: 0,
  characters: 0,
  searchUnits: 0,
})
