import { type ErrorCatalogue, invalidFieldMessage, UNKNOWN_OBJECTS } from './http-errors.ts'

/**
 * The errors about a channel's address, in the management API and the relay. The messages do not
 * depend on the service at the address, so that they reveal nothing about a private network.
 */
export const CHANNEL_TARGET_ERRORS = {
  ChannelUnknown: [
    404,
    ({ id }) => {
      const { zh, en } = UNKNOWN_OBJECTS.channel
      return id === undefined ? { zh, en } : { zh: `${zh}（#${id}）`, en: `${en} (#${id})` }
    },
  ],
  KeyRequired: [
    200,
    {
      zh: '请填写密钥：更改渠道类型、地址或代理时必须重新填写',
      en: 'Enter the key again: a new type, address or proxy of a channel requires it',
    },
  ],
  AddressNotAllowed: [
    200,
    invalidFieldMessage('base_url', {
      zh: '不允许使用该地址（内网地址须列入 PRIVATE_UPSTREAMS）',
      en: 'the address is not allowed (see PRIVATE_UPSTREAMS)',
    }),
  ],
  ProxyNotAllowed: [
    200,
    invalidFieldMessage('setting', {
      zh: '不允许使用 setting.proxy 的地址（内网地址须列入 PRIVATE_UPSTREAMS）',
      en: 'setting.proxy is not allowed (see PRIVATE_UPSTREAMS)',
    }),
  ],
} satisfies ErrorCatalogue<string>
