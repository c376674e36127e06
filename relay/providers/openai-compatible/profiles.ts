import type { Profile } from './profile.ts'
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

/**
 * Every type of this format, in the order that forms offer them. Types whose old default address
 * belongs to somebody else by now have none, so that no key is ever sent there unasked. Left out:
 * 21, a library that answers out of documents by a call of its own, with an id of the library in
 * place of a model; calls of models, which is what is priced here, go to its operator's type 10.
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

/** undefined: a type that no channel can be served by. */
export const profileOf = (type: number): Profile | undefined => BY_ID.get(type)
