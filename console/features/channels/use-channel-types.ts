import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { channelTypesQuery } from '#console/api/channels.ts'
import { typeName } from '#read-api/contract/channel-type-names.ts'
import type { ChannelType } from '#read-api/contract/channel-type-schema.ts'

type ChannelTypes = {
  readonly types: readonly ChannelType[]
  /**
   * Returns the channel type with the given number. Returns undefined if the type is not supported,
   * or if the types have not loaded yet.
   */
  readonly find: (type: number) => ChannelType | undefined
  readonly nameOf: (type: number) => string
  readonly hasBalance: (type: number) => boolean
}

export function useChannelTypes(): ChannelTypes {
  const types = useQuery(channelTypesQuery).data
  return useMemo(() => {
    const byId = new Map(types?.map((type) => [type.id, type]))
    return {
      types: types ?? [],
      find: (type) => byId.get(type),
      nameOf: (type) => byId.get(type)?.name ?? typeName(type),
      hasBalance: (type) => byId.get(type)?.has_balance === true,
    }
  }, [types])
}
