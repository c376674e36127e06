import type { ComponentType } from 'react'
import { LostPage } from './lost-page.tsx'

/**
 * Loads a page from its chunk. If the chunk fails, returns a page that shows the error and retries;
 * a rejected `lazy` would leave the router empty.
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

/** Returns the URL of the failed file if the browser's message contains it; otherwise `/`. */
function fileOf(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  return /(?:https?:\/)?\/\S+\.(?:js|css)\b/.exec(message)?.[0] ?? '/'
}
