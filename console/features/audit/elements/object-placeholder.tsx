import type { ReactNode } from 'react'
import { isNotFound } from '#console/api/api-error.ts'
import { EmptyState, ErrorState } from '#console/ui/layout/empty-state.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'

/**
 * Takes the place of an object that can't be shown: while the object loads, if it does not exist,
 * or if it could not be read. `missing` is the text for an object that does not exist.
 */
export function ObjectPlaceholder(props: {
  error: Error | null
  onRetry: () => void
  missing: { readonly title: string; readonly body: string; readonly action?: ReactNode }
}) {
  const { error, missing } = props
  if (error === null) return <Skeleton height={320} />
  if (isNotFound(error)) return <EmptyState icon="search" {...missing} />
  return <ErrorState error={error} onRetry={props.onRetry} />
}
