import type { Setup } from '#write-api/contract/setup.ts'
import { request } from '../request.ts'

/** Creates the root account and picks the mode; refused once that has been done. */
export async function setUp(setup: Setup): Promise<void> {
  await request<unknown>({
    method: 'POST',
    path: '/api/setup',
    body: setup,
  })
}
