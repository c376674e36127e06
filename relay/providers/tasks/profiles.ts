import type { Profile } from '../openai-compatible/profile.ts'
import { midjourney } from './profiles/midjourney.ts'
import { midjourneyPlus } from './profiles/midjourney-plus.ts'
import { suno } from './profiles/suno.ts'

/** Types that take tasks and no chats, in the order that forms offer them. */
export const TASK_PROFILES: readonly Profile[] = [midjourney, midjourneyPlus, suno]

const BY_ID: ReadonlyMap<number, Profile> = new Map(
  TASK_PROFILES.map((profile) => [profile.id, profile]),
)

export const taskProfileOf = (type: number): Profile | undefined => BY_ID.get(type)
