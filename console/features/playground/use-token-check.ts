import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { fetchTokens } from '#console/api/tokens/list-tokens.ts'
import { showError } from '#console/ui/toast.ts'

const LEAVE_AFTER_MS = 1_500

/**
 * Whoever has no enabled token is told so, and taken to where one is made. True once there is one:
 * before, an answer might cost something and be read by nobody. Who can't be told may ask.
 */
export function useTokenCheck(): boolean {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { data: hasToken, isError } = useQuery({
    queryKey: ['has-enabled-token'],
    queryFn: ({ signal }) => hasEnabledToken(signal),
    gcTime: 0,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: said once, whatever the language is
  useEffect(() => {
    if (hasToken !== false) return
    showError(t('playground.noToken'), { goesAlong: true })
    const timer = setTimeout(() => void navigate('/app/tokens'), LEAVE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [hasToken])
  return hasToken ?? isError
}

const LOOKED_AT = 100
const ENABLED = 1

/** Whether one of the user's tokens is enabled, of the newest hundred. */
async function hasEnabledToken(signal: AbortSignal): Promise<boolean> {
  const { items } = await fetchTokens({ keyword: '', page: 0, pageSize: LOOKED_AT }, signal)
  return items.some(({ status }) => status === ENABLED)
}
