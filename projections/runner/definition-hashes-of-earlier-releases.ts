/**
 * Maps the present hash of a definition to its hash from earlier releases, in which SQL comments
 * were part of the hash. Both stand for the same tables and rows, so a read model with the earlier
 * hash is not rebuilt. An entry has no effect once the SQL or version changes.
 */
export const HASHES_WITH_COMMENTS: ReadonlyMap<string, string> = new Map([
  // The hashes of `users`.
  [
    'abbdf507ce83511a6353d36928a55a1929e292048930d28311f7f8b2e6130937',
    '13d05337c225880ea2e755dcc5570202917906d09e80c108f4ed01145f583478',
  ],
  // The hashes of `channels`.
  [
    'b4b791ac8d0334d79bd3e4e024f861ed8211ace5b50af6dfbca9f803e32c3988',
    '53230d2749d15fc934a9c6c81bd5fe0070558583f48656e111b72349bd623ef6',
  ],
  // The hashes of `channel-checks`.
  [
    'a20f56e4326eccf61c67150e4fe5ebd6c202405184fd1e176917aea88dc6241f',
    'e51191fdbe8e4aed9112c80868cab80d7570b9af92aee857a31c2aea6cb3fb32',
  ],
  // The hashes of `option-changes`.
  [
    '7ac2058f95da602f71950d28f830c7c50ec28baea2a8286980dcad6b489c7101',
    'db74cb1af447dcb4ac00468679f29a54f8eb73d18227e41cd53bf943c93c1e5a',
  ],
  // The hashes of `price-history`.
  [
    '73218e65f1773d6067dc2355d8cb1524e7a42b897e0b46833ed5b2fd4ca48b34',
    '47c6c04c9679e053aa455f3ac71abd6381034f8b3977e0fb496ededd259301c9',
  ],
  // The hashes of `price-schedule`.
  [
    '75b61baccfe666678ac4c82783ddb4a9d278d1ff66512c39195d1dceb70b37ca',
    '286486222c047e92945e4fb58be37c6ed915ffc0985275da8dc726683938c269',
  ],
  // The hashes of `balances`.
  [
    'af6f837049129e543022a7ffb04b15634dca727122243e4ef4747f4414ff393b',
    'c8c845111bd4e83dae7eda01c2680e9fef0d06623a26ba858a266f2f590d4fa1',
  ],
  // The hashes of `messages`.
  [
    '7d34fbed05bb60d19e92ff8f0056c80e9ea2276ffc08d1bc06ad7f4c6d05ef88',
    '94bcbb02867ced3dc2f65c1cc8936747b24bda5e5dd8f3a98e8369d3125503dd',
  ],
  // The hashes of `orders`.
  [
    'd639048bade39ef48f9c5db5b44458cd3f714856ca97b272a93dad384c13f54c',
    '41320058e3cd4f7c7a34571e4cfac88d6caee4f67535a19bb94676e872935c53',
  ],
  // The hashes of `tasks`.
  [
    '9f1127beb32f6a6d20983a294fd3c12c1674ceaf943aba5274f653184d6c96e4',
    '98a234e945aea05f58cfb20cf1af75965b62bb9412c2d1b8fb233e9ba8d4c722',
  ],
])
