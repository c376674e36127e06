import type { ComponentType } from 'react'
import { LostPage } from './lost-page.tsx'

/**
 * Loads the page of a chunk or, when that fails, a page that reports the failure and retries. It
 * never rejects, because the router would keep a route pending whose `lazy` rejects, and render
 * nothing.
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

/** The file that failed, when the browser names it; otherwise the console's own document. */
function fileOf(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  return /(?:https?:\/)?\/\S+\.(?:js|css)\b/.exec(message)?.[0] ?? '/'
}
