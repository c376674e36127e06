import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { retryUnlessMissing } from '#console/api/api-error.ts'
import { apiQuery } from '#console/api/client.ts'
import { isAdmin, isAuditor, useUser } from '#console/api/session.ts'
import {
  matches,
  type RegisteredAction,
  registeredActions,
} from '#console/ui/actions/action-registry.ts'
import { findRequestId } from '#console/ui/elements/find-request-id.ts'
import { stampText } from '#console/ui/elements/time-text.ts'
import { useDebouncedValue } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import { findFullRequestId } from '#read-api/contract/find-full-request-id.ts'
import { channelsQuery } from '../api/channels.ts'
import { tokensQuery } from '../api/token-and-redemption-queries.ts'
import { listLogs, logsKey } from '../api/usage-log-queries.ts'
import { usersQuery } from '../api/user-queries.ts'

type EntrySection = RegisteredAction['section'] | 'calls' | 'tokens' | 'channels' | 'users'
export type Entry = Omit<RegisteredAction, 'section'> & {
  readonly section: EntrySection
  readonly perform: () => void
}

const RESULTS_MAX = 5
const SEARCH_DELAY_MS = 150

export function usePaletteEntries(query: string): readonly Entry[] {
  const [registered] = useState(registeredActions)
  const actions = registered.flatMap(({ perform, ...rest }) =>
    perform === undefined || rest.isKeyOnly === true ? [] : [{ ...rest, perform }],
  )
  const calls = useCalls(query.trim())
  const found = useSearchResults(query.trim())
  return [
    ...calls,
    ...actions.filter(({ title, keywords = '' }) => matches(`${title} ${keywords}`, query.trim())),
    ...found,
  ]
}

type FoundCall = { readonly requestId: string; readonly model: string; readonly startedAt: number }

/**
 * Finds calls by the beginning of their request id. Auditors who are not admins can't read the
 * usage log of other users. They therefore find the calls of other users only by the complete
 * request id.
 */
function useCalls(query: string): readonly Entry[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const user = useUser()
  const mayManage = isAdmin(user)
  const requestId = useDebouncedValue(findRequestId(query), SEARCH_DELAY_MS)
  const fullId = findFullRequestId(requestId ?? '')
  const isAudited = isAuditor(user) && !mayManage && fullId !== null
  const logged = useQuery({
    queryKey: [...logsKey, 'found', mayManage, requestId],
    queryFn: ({ signal }) =>
      listLogs({
        scope: mayManage ? 'all' : 'self',
        params: { request_id: requestId ?? '' },
        page: 0,
        pageSize: 10,
        signal,
      }),
    enabled: requestId !== null && !isAudited,
    select: ({ items }): readonly FoundCall[] =>
      items.map((row) => ({
        requestId: row.request_id,
        model: row.model_name,
        startedAt: row.created_at,
      })),
  })
  const audited = useQuery({
    ...apiQuery('GET /api/audit/calls/:requestId', { params: { requestId: fullId ?? '' } }),
    retry: retryUnlessMissing,
    enabled: isAudited,
    select: (call): readonly FoundCall[] => [
      {
        requestId: call.request_id,
        model: call.model,
        startedAt: call.admission?.created_at ?? call.end?.created_at ?? 0,
      },
    ],
  })
  if (requestId === null || requestId !== findRequestId(query)) return []
  const { data: found = [] } = isAudited ? audited : logged
  return found.slice(0, RESULTS_MAX).map((call, n) => ({
    id: `calls-${n}-${call.requestId}`,
    title: t('commands.openCall', {
      model: call.model,
      time: stampText(call.startedAt).slice(5, 16),
      id: `${call.requestId.slice(0, 13)}…${call.requestId.slice(-4)}`,
    }),
    section: 'calls',
    icon: 'list',
    perform: () => void navigate(`/app/calls/${call.requestId}`),
  }))
}

function useSearchResults(query: string): readonly Entry[] {
  const navigate = useNavigate()
  const mayManage = isAdmin(useUser())
  const keyword = useDebouncedValue(query, SEARCH_DELAY_MS)
  const isSearching = keyword !== '' && keyword === query
  const searchQuery = { keyword, page: 0, pageSize: RESULTS_MAX }
  const tokens = useQuery({ ...tokensQuery(searchQuery), enabled: isSearching }).data?.items ?? []
  const channels = useQuery({
    ...channelsQuery({ ...searchQuery, model: '', group: '' }),
    enabled: isSearching && mayManage,
  }).data?.items
  const users = useQuery({
    ...usersQuery({ ...searchQuery, group: '' }),
    enabled: isSearching && mayManage,
  }).data?.items
  if (!isSearching) return []
  const go = (path: string, name: string) => () =>
    void navigate(`${path}?${new URLSearchParams({ keyword: name })}`)
  const entries = (section: 'tokens' | 'channels', path: string, rows: readonly Named[]): Entry[] =>
    rows.slice(0, RESULTS_MAX).map(({ id, name }) => ({
      id: `${section}-${id}`,
      title: name,
      section,
      icon: section === 'tokens' ? 'key' : 'channels',
      perform: go(path, name),
    }))
  return [
    ...entries('tokens', '/app/tokens', tokens),
    ...entries('channels', '/admin/channels', channels?.filter((row) => 'id' in row) ?? []),
    ...(users ?? []).slice(0, RESULTS_MAX).map(({ id, username }) => ({
      id: `users-${id}`,
      title: username || `#${id}`,
      section: 'users' as const,
      icon: 'users' as const,
      perform: () => void navigate(`/user/edit/${id}`),
    })),
  ]
}

type Named = { readonly id: number; readonly name: string }
