import type { Profile } from '../../openai-compatible/profile.ts'
import { midjourney } from './midjourney.ts'

/** Takes the same calls; another product. */
export const midjourneyPlus: Profile = { ...midjourney, id: 5, name: 'Midjourney Plus' }
