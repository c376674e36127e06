import type { ReactNode } from 'react'
import { isNotFound } from '#console/api/api-error.ts'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'

/**
 * The content in place of an object that is still loading, does not exist or could not be read.
 * `missing` contains the texts for an object that does not exist and, optionally, an action.
 */
export function ObjectFallback(props: {
  error: Error | null
  onRetry: () => void
  missing: { readonly title: string; readonly body: string; readonly action?: ReactNode }
}) {
  const { error, missing } = props
  if (error === null) return <Skeleton height={320} />
  if (isNotFound(error)) return <EmptyState icon="search" {...missing} />
  return <ErrorState error={error} onRetry={props.onRetry} />
}
