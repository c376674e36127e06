import type { Profile } from '../../openai-compatible/profile.ts'

export const suno: Profile = {
  id: 36,
  name: 'Suno API',
  tasks: 'music',
  baseUrl: null,
  chatPath: '/suno/submit/MUSIC',
  modelsPath: null,
  keyHint: { zh: '音乐服务的访问密钥', en: 'The key of the music service' },
  models: ['suno_music', 'suno_lyrics'],
}
