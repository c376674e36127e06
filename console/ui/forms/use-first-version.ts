import { useState } from 'react'

/**
 * Returns an object as the server first sent it after the form was opened, or null until then. A
 * form compares its values with this object to find what its user has changed. If the form compared
 * its values with a later version of the object, another user's change would look like a change by
 * this user.
 */
export function useFirstVersion<Data>(query: {
  readonly data: Data | undefined
  readonly isFetchedAfterMount: boolean
}): Data | null {
  const [first, setFirst] = useState<Data | null>(null)
  if (first === null && query.data !== undefined && query.isFetchedAfterMount) setFirst(query.data)
  return first
}
