import {
  ai360,
  ali,
  baiduV2,
  deepSeek,
  lingyiWanwu,
  miniMax,
  mokaAi,
  moonshot,
  siliconFlow,
  volcEngine,
  zhipuV4,
} from './profiles/chinese.ts'
import {
  azure,
  cloudflare,
  cohere,
  mistral,
  ollama,
  openAi,
  openRouter,
  perplexity,
  xAi,
  xinference,
} from './profiles/international.ts'
import {
  aigc2d,
  ails,
  aiProxy,
  api2gpt,
  custom,
  fastGpt,
  ohMyGpt,
  openAiMax,
  submodel,
} from './profiles/resellers.ts'
import type { Profile } from './provider-profile.ts'

/**
 * The channel types of OpenAI's chat format, in the order of the channel form. Type 21 is left out,
 * because its provider answers from documents and has no models to price. The company's models are
 * available as type 10.
 */
export const PROFILES: readonly Profile[] = [
  openAi,
  custom,
  azure,
  deepSeek,
  openRouter,
  moonshot,
  zhipuV4,
  ali,
  volcEngine,
  siliconFlow,
  baiduV2,
  miniMax,
  xAi,
  mistral,
  cohere,
  perplexity,
  cloudflare,
  ollama,
  xinference,
  lingyiWanwu,
  ai360,
  mokaAi,
  submodel,
  fastGpt,
  aiProxy,
  api2gpt,
  aigc2d,
  openAiMax,
  ohMyGpt,
  ails,
]

const BY_ID: ReadonlyMap<number, Profile> = new Map(
  PROFILES.map((profile) => [profile.id, profile]),
)

/** Returns the profile of a channel type; undefined for an unsupported type. */
export const profileOf = (type: number): Profile | undefined => BY_ID.get(type)
