import type { ComponentType } from 'react'
import { LostPage } from './load-error-page.tsx'

/** Loads a page, or else a page that shows the error, because a rejected `lazy` renders nothing. */
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
