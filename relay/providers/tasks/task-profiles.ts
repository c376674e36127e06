import type { Profile } from '../openai-compatible/provider-profile.ts'

/** The model names under which the price list contains the drawing actions. */
const DRAWING_MODELS = [
  'mj_imagine',
  'mj_upscale',
  'mj_variation',
  'mj_high_variation',
  'mj_low_variation',
  'mj_reroll',
  'mj_pan',
  'mj_zoom',
  'mj_custom_zoom',
  'mj_inpaint',
  'mj_modal',
  'mj_blend',
  'mj_describe',
  'mj_shorten',
  'mj_upload',
  'swap_face',
]

const midjourney: Profile = {
  id: 2,
  name: 'Midjourney',
  tasks: 'drawing',
  baseUrl: null,
  chatPath: '/mj/submit/imagine',
  modelsPath: null,
  keyHeader: 'mj-api-secret',
  keyHint: {
    zh: '绘图代理的访问密钥（mj-api-secret）',
    en: 'The access key of the drawing proxy (mj-api-secret)',
  },
  models: DRAWING_MODELS,
}

/** A different product with the same API as Midjourney. */
const midjourneyPlus: Profile = { ...midjourney, id: 5, name: 'Midjourney Plus' }

const suno: Profile = {
  id: 36,
  name: 'Suno API',
  tasks: 'music',
  baseUrl: null,
  chatPath: '/suno/submit/MUSIC',
  modelsPath: null,
  keyHint: { zh: '音乐服务的访问密钥', en: 'The key of the music service' },
  models: ['suno_music', 'suno_lyrics'],
}

/** The channel types that accept only tasks, in the order of the channel form. */
export const TASK_PROFILES: readonly Profile[] = [midjourney, midjourneyPlus, suno]

const BY_ID: ReadonlyMap<number, Profile> = new Map(
  TASK_PROFILES.map((profile) => [profile.id, profile]),
)

export const taskProfileOf = (type: number): Profile | undefined => BY_ID.get(type)
