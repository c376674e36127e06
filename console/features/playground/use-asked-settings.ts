import { useEffect } from 'react'
import { textParam } from '#console/ui/url-state.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'
import type { Conversations } from './use-conversations.ts'

const ADDRESS = { model: textParam('', 256), group: textParam() }

/** What a link asks for (`?model=`, `?group=`) begins a conversation; then the address is plain. */
export function useAskedSettings({ start }: Conversations): void {
  const [{ model, group }, setAddress] = useUrlState(ADDRESS)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for what is asked
  useEffect(() => {
    if (model === '' && group === '') return
    start({ ...(model === '' ? {} : { model }), ...(group === '' ? {} : { group }) })
    setAddress({ model: '', group: '' }, { replace: true })
  }, [model, group])
}
