import type { ComponentType } from 'react'
import { LostPage } from './lost-page.tsx'

/**
 * Loads the page of a chunk, or a page that reports the failure and retries. It never rejects,
 * because the router renders nothing if `lazy` rejects.
 */
export async function ownChunk(
  load: () => Promise<ComponentType>,
): Promise<{ Component: ComponentType }> {
  try {
    return { Component: await load() }
  } catch (error) {
    const file = fileOf(error)
    return { Component: () => <LostPage file={file} /> }
  }
}

/** Returns the URL of the failed file if the browser reports it; otherwise `/`. */
function fileOf(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  return /(?:https?:\/)?\/\S+\.(?:js|css)\b/.exec(message)?.[0] ?? '/'
}
