import { ApiError } from '../api-error.ts'
import { request } from '../request.ts'

/** `before`: as it was read; refused where somebody has set another value since. */
export async function putOption(key: string, value: string, before: string): Promise<void> {
  await request({ method: 'PUT', path: '/api/option/', body: { key, value, before } })
}

export const isChangedMeanwhile = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'OptionChanged'
