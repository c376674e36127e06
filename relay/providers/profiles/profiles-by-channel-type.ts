import { INPUT_ENDPOINTS } from './embedding-rerank-and-moderation-endpoints.ts'
import { ENDPOINTS_IN_OTHER_FORMATS } from './endpoints-in-other-formats.ts'
import { IMAGE_ENDPOINTS } from './image-endpoints.ts'
import { PROFILE_ROWS } from './profile-table.ts'
import type { Profile } from './provider-profile.ts'

/**
 * The default values of `PROFILE_ROWS`: OpenAI's paths, no base URL (the operator must enter one),
 * and a hint for keys of any form.
 */
const OPENAI_LIKE = {
  baseUrl: null,
  endpoints: [{ format: 'chat', path: '/v1/chat/completions' }],
  modelsPath: '/v1/models',
  keyHint: { zh: '请输入渠道对应的鉴权密钥', en: 'The key of your account at the provider' },
} satisfies Partial<Profile>

const ALL_PROFILES: readonly Profile[] = PROFILE_ROWS.map(({ models = '', ...values }) => {
  const { id, tasks, endpoints = tasks === undefined ? OPENAI_LIKE.endpoints : [] } = values
  return {
    ...OPENAI_LIKE,
    ...values,
    endpoints: [
      ...endpoints,
      ...(ENDPOINTS_IN_OTHER_FORMATS.get(id) ?? []),
      ...(INPUT_ENDPOINTS.get(id) ?? []),
      ...(IMAGE_ENDPOINTS.get(id) ?? []),
    ],
    models: models.split(/\s+/).filter((name) => name !== ''),
  }
})

/** The profiles of all channel types that accept calls. */
export const PROFILES = ALL_PROFILES.filter(({ tasks }) => tasks === undefined)

/** The profiles of all channel types that accept only tasks. */
export const TASK_PROFILES = ALL_PROFILES.filter(({ tasks }) => tasks !== undefined)

const byId = (profiles: readonly Profile[]): ReadonlyMap<number, Profile> =>
  new Map(profiles.map((profile) => [profile.id, profile]))
const BY_ID = byId(PROFILES)
const TASKS_BY_ID = byId(TASK_PROFILES)

/**
 * Returns the profile of a channel type that accepts calls. Returns undefined for any other type.
 */
export const profileOf = (type: number): Profile | undefined => BY_ID.get(type)

/**
 * Returns the profile of a channel type that accepts only tasks. Returns undefined for any other
 * type.
 */
export const taskProfileOf = (type: number): Profile | undefined => TASKS_BY_ID.get(type)
