import type { ComponentType } from 'react'
import { LostPage } from './lost-page.tsx'

/**
 * The page of a chunk; when the chunk does not come, a page that says so and tries again. Never
 * rejects: a route whose `lazy` did stays pending, and the router draws nothing.
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

/** The file that did not come, where the browser names it; else the console's own document. */
function fileOf(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  return /(?:https?:\/)?\/\S+\.(?:js|css)\b/.exec(message)?.[0] ?? '/'
}
