// Natural logarithm: the table, the sum log_sum() that pow() shares, and log().
#pragma once

#include <cstdint>

#include "base/exact_math/real.hpp"

namespace stope::math {

struct LogEntry {
  double factor;  ///< c = 256/i to a multiple of 2^-11 (i/256 is the middle of the interval); exactly 1 for i = 256
  double hi;      ///< -log(c) to a multiple of 2^-42
  double lo;      ///< -log(c) - hi
};

/// Entry i - 181 serves the mantissas that round to i/256, i = 181..362.
STOPE_HD inline LogEntry log_entry(std::int64_t index) {
  // clang-format off
  static constexpr LogEntry kTable[182] = {
      {0x1.6a2p+0, -0x1.6322b01ee6p-2, -0x1.bfc1acfb0cffbp-46},
      {0x1.682p+0, -0x1.5d76dd9a78p-2, 0x1.cbf6c326244f5p-44},
      {0x1.662p+0, -0x1.57c2f53b05p-2, -0x1.0494c017c2a52p-45},
      {0x1.642p+0, -0x1.5206dfd186p-2, -0x1.c58cfd28f3cd8p-44},
      {0x1.624p+0, -0x1.4c9f09e153p-2, 0x1.e1dde70e02dep-45},
      {0x1.606p+0, -0x1.472fdbe4fdp-2, -0x1.f9364c53f821fp-45},
      {0x1.5e8p+0, -0x1.41b941cce1p-2, 0x1.0469013e43fc9p-44},
      {0x1.5cap+0, -0x1.3c3b2736b4p-2, 0x1.3e5d1e9d3ddf9p-47},
      {0x1.5acp+0, -0x1.36b5776bc1p-2, -0x1.169785a9c223fp-46},
      {0x1.58ep+0, -0x1.31281d5f11p-2, 0x1.6e10e6a8b7abcp-48},
      {0x1.572p+0, -0x1.2bf287cc41p-2, -0x1.b0f4f549d8ecfp-45},
      {0x1.556p+0, -0x1.26b620935p-2, -0x1.8f08bb3f17379p-44},
      {0x1.53ap+0, -0x1.2172d5c2acp-2, 0x1.115594223fc7p-44},
      {0x1.51ep+0, -0x1.1c2895218fp-2, -0x1.5ff09640395a7p-45},
      {0x1.502p+0, -0x1.16d74c2e8bp-2, 0x1.cd0784d2e5077p-45},
      {0x1.4e6p+0, -0x1.117ee81dfep-2, -0x1.30f778a2e8cbdp-44},
      {0x1.4cap+0, -0x1.0c1f55d88bp-2, 0x1.d7d9ef6c0426bp-44},
      {0x1.4bp+0, -0x1.071b85fcd6p-2, 0x1.bcb8ba3e01a11p-44},
      {0x1.496p+0, -0x1.021164a929p-2, -0x1.ba287f3b5dd98p-47},
      {0x1.47ap+0, -0x1.f939c4e72ep-3, 0x1.4c5fc35fe2798p-44},
      {0x1.46p+0, -0x1.ef0adcbdc6p-3, 0x1.b26b79c86af24p-45},
      {0x1.446p+0, -0x1.e4ceeda61ep-3, 0x1.2ccbe398170f7p-46},
      {0x1.42ep+0, -0x1.db50da24bep-3, 0x1.9bcb7d201aba8p-44},
      {0x1.414p+0, -0x1.d0fb7f2256p-3, 0x1.af52b20633b29p-47},
      {0x1.3fcp+0, -0x1.c765b9e4d6p-3, -0x1.1ab6b36976f6cp-44},
      {0x1.3e2p+0, -0x1.bcf6736f7ep-3, 0x1.271e894f591e4p-44},
      {0x1.3cap+0, -0x1.b34885022ep-3, -0x1.03ba859924374p-44},
      {0x1.3b2p+0, -0x1.a98ed238b8p-3, -0x1.126ffb47b9acp-48},
      {0x1.39ap+0, -0x1.9fc93e540ap-3, 0x1.e78b994e84c43p-46},
      {0x1.382p+0, -0x1.95f7ac2b3cp-3, 0x1.615d77a1ffe43p-44},
      {0x1.36ap+0, -0x1.8c19fe2982p-3, -0x1.5e01e0d7c912bp-49},
      {0x1.352p+0, -0x1.8230164c1ap-3, -0x1.98dd68a5d0b48p-46},
      {0x1.33ap+0, -0x1.7839d62024p-3, 0x1.55cc584009f24p-44},
      {0x1.324p+0, -0x1.6f0d28ae56p-3, -0x1.69737c93373dap-44},
      {0x1.30ep+0, -0x1.65d5e99cc4p-3, 0x1.dc4348e559bc8p-46},
      {0x1.2f6p+0, -0x1.5bbc05f14p-3, -0x1.21892c55da347p-45},
      {0x1.2ep+0, -0x1.526e5e3a1cp-3, 0x1.790ba37fc5238p-44},
      {0x1.2cap+0, -0x1.4915d832fcp-3, 0x1.53cee006bcf62p-44},
      {0x1.2b4p+0, -0x1.3fb25a5952p-3, -0x1.195be6b358ff7p-44},
      {0x1.29ep+0, -0x1.3643cad058p-3, -0x1.1e18f2132dfd5p-44},
      {0x1.288p+0, -0x1.2cca0f5f6p-3, 0x1.b5ef191aff12p-44},
      {0x1.274p+0, -0x1.2423113ba6p-3, 0x1.e3a0078ee9d9cp-44},
      {0x1.25ep+0, -0x1.1a93b7d43p-3, 0x1.3debbf4ec55f3p-44},
      {0x1.24ap+0, -0x1.11d8e5e29p-3, -0x1.1c6fa52eaa55bp-45},
      {0x1.234p+0, -0x1.08338affa2p-3, -0x1.0533cac823e27p-44},
      {0x1.22p+0, -0x1.fec9131dcp-4, 0x1.54555d1ae6607p-44},
      {0x1.20cp+0, -0x1.ed1794e838p-4, 0x1.fd143749d0484p-46},
      {0x1.1f8p+0, -0x1.db5270187cp-4, -0x1.9277856ae181fp-44},
      {0x1.1e2p+0, -0x1.c7af7a8474p-4, 0x1.289ae375f8578p-44},
      {0x1.1dp+0, -0x1.b78c82bb1p-4, 0x1.25ef7bc3987e7p-44},
      {0x1.1bcp+0, -0x1.a58b60c2b4p-4, 0x1.cdc735c5c9f2ap-44},
      {0x1.1a8p+0, -0x1.9375e55594p-4, -0x1.eddc37380c364p-44},
      {0x1.194p+0, -0x1.814be23f8cp-4, -0x1.b2381da82fdfdp-51},
      {0x1.182p+0, -0x1.70e12b325cp-4, -0x1.0530d95714cd1p-45},
      {0x1.16ep+0, -0x1.5e8fa4d858p-4, -0x1.1c6fce08d711p-44},
      {0x1.15cp+0, -0x1.4e01108a34p-4, -0x1.ae5cfdf2c5ae5p-44},
      {0x1.148p+0, -0x1.3b87598b1cp-4, 0x1.2241594aca313p-45},
      {0x1.136p+0, -0x1.2ad449eff4p-4, 0x1.cea3ae5f05b87p-44},
      {0x1.124p+0, -0x1.1a0fba1bf8p-4, -0x1.4a3fcc319d6dcp-45},
      {0x1.112p+0, -0x1.0939853a1cp-4, -0x1.91761e583dc8fp-45},
      {0x1.0fep+0, -0x1.ecdf0f87b8p-5, 0x1.e97bceb5803f8p-45},
      {0x1.0ecp+0, -0x1.cae72fb96p-5, 0x1.efabf2025b1bep-44},
      {0x1.0dcp+0, -0x1.ac9722171p-5, -0x1.f8d3ef013222cp-45},
      {0x1.0cap+0, -0x1.8a5a9cc618p-5, 0x1.9ae2900180e9ap-44},
      {0x1.0b8p+0, -0x1.67f94f0948p-5, -0x1.ecc1f3e7e4ed7p-44},
      {0x1.0a6p+0, -0x1.4572e981c8p-5, -0x1.6c7eaf9b37d75p-44},
      {0x1.096p+0, -0x1.26a32a86dp-5, -0x1.7b8f856a4077p-44},
      {0x1.084p+0, -0x1.03d5d85e7p-5, -0x1.f778960ed29cfp-44},
      {0x1.074p+0, -0x1.c98d18d01p-6, 0x1.bf6150589df0fp-45},
      {0x1.062p+0, -0x1.83624fba8p-6, -0x1.deb9c96b40046p-45},
      {0x1.052p+0, -0x1.44c28d451p-6, -0x1.98b0a50467942p-44},
      {0x1.042p+0, -0x1.05e547827p-6, 0x1.0dbde21f5e1f8p-44},
      {0x1.03p+0, -0x1.7dc475f82p-7, 0x1.eb1245b5da1f5p-44},
      {0x1.02p+0, -0x1.fe02a6b1p-8, -0x1.9e23f0dda40e4p-46},
      {0x1.01p+0, -0x1.ff00aa2bp-9, -0x1.0bc04a086b56ap-45},
      {0x1.0p+0, 0.0, 0.0},
      {0x1.fep-1, 0x1.008055958p-8, 0x1.166afcb31c67bp-45},
      {0x1.fcp-1, 0x1.010157588p-7, 0x1.bce251998b506p-44},
      {0x1.fap-1, 0x1.82448a388p-7, 0x1.4554412c584ep-44},
      {0x1.f8p-1, 0x1.020565893p-6, 0x1.611d27c8e8417p-44},
      {0x1.f64p-1, 0x1.3b024b78cp-6, 0x1.59a5e23a02f83p-44},
      {0x1.f44p-1, 0x1.7c61b1cf6p-6, -0x1.08fc8f849a447p-45},
      {0x1.f24p-1, 0x1.be0422fcdp-6, 0x1.a3d8850fe5939p-44},
      {0x1.f08p-1, 0x1.f7a9b1678p-6, 0x1.42ad9271be7d7p-45},
      {0x1.ee8p-1, 0x1.1ce5a62bcp-5, 0x1.a9cc78d8df999p-44},
      {0x1.eccp-1, 0x1.39f07ba0e8p-5, 0x1.eb129d642e577p-44},
      {0x1.ebp-1, 0x1.5715c4c04p-5, -0x1.8888ddfc47628p-44},
      {0x1.e9p-1, 0x1.788595a358p-5, -0x1.08b0d083b3a4cp-46},
      {0x1.e74p-1, 0x1.95e430f8dp-5, -0x1.ba22cf76874ddp-45},
      {0x1.e58p-1, 0x1.b35dd9b588p-5, 0x1.d5674d6cf558ep-44},
      {0x1.e3cp-1, 0x1.d0f2c1dda8p-5, -0x1.8e40e3ef1e888p-45},
      {0x1.e2p-1, 0x1.eea31c0068p-5, 0x1.c3dd83606d891p-44},
      {0x1.ep-1, 0x1.08598b59e4p-4, -0x1.7e5dd7009902cp-46},
      {0x1.de4p-1, 0x1.174f76ab08p-4, 0x1.1710317ee2e48p-44},
      {0x1.dccp-1, 0x1.242d6c1a58p-4, 0x1.4b838ac648481p-45},
      {0x1.dbp-1, 0x1.333d7f8184p-4, -0x1.692b6a81b8848p-49},
      {0x1.d94p-1, 0x1.425bce8474p-4, 0x1.365ac5219daefp-45},
      {0x1.d78p-1, 0x1.518874226p-4, 0x1.30a1d96258b3ep-44},
      {0x1.d5cp-1, 0x1.60c38ba798p-4, 0x1.45cb10ebb04a5p-44},
      {0x1.d4p-1, 0x1.700d30aeacp-4, 0x1.c1e8da99ded32p-49},
      {0x1.d28p-1, 0x1.7d33687c28p-4, 0x1.3c88c3e706706p-44},
      {0x1.d0cp-1, 0x1.8c985e9bap-4, -0x1.37c377e430036p-44},
      {0x1.cf4p-1, 0x1.99d62a65ecp-4, -0x1.a45d04f9775edp-46},
      {0x1.cd8p-1, 0x1.a956d3ecacp-4, 0x1.e63794c02c4afp-44},
      {0x1.ccp-1, 0x1.b6ac88dad4p-4, 0x1.b1bdff50225c7p-44},
      {0x1.ca4p-1, 0x1.c6494a2e4p-4, 0x1.8a5e8ab20c4e6p-44},
      {0x1.c8cp-1, 0x1.d3b73f37ep-4, 0x1.f9a8099ed2804p-44},
      {0x1.c7p-1, 0x1.e3707ee304p-4, 0x1.0f684e6766abdp-45},
      {0x1.c58p-1, 0x1.f0f70cdd98p-4, 0x1.2e31f6c272c1ep-44},
      {0x1.c4p-1, 0x1.fe89139dbcp-4, 0x1.56594d82f7a82p-44},
      {0x1.c28p-1, 0x1.06135354d4p-3, 0x1.6304628340ee9p-44},
      {0x1.c1p-1, 0x1.0ce7ecdcccp-3, 0x1.4652dabff5447p-46},
      {0x1.bf4p-1, 0x1.14e75b48ap-3, -0x1.03dcc900f371fp-51},
      {0x1.bdcp-1, 0x1.1bc8af2144p-3, -0x1.2994d823555d4p-44},
      {0x1.bc4p-1, 0x1.22aff2ddbep-3, -0x1.a3c2a6b06962p-45},
      {0x1.bacp-1, 0x1.299d30c606p-3, 0x1.d4d0079dc08d9p-44},
      {0x1.b94p-1, 0x1.3090733ce4p-3, -0x1.819b90764f584p-45},
      {0x1.b7cp-1, 0x1.3789c4c042p-3, -0x1.992c2eecb3868p-44},
      {0x1.b64p-1, 0x1.3e892fe996p-3, -0x1.24aa9375956dcp-44},
      {0x1.b5p-1, 0x1.4462b9dc9cp-3, -0x1.84858a711b062p-44},
      {0x1.b38p-1, 0x1.4b6d6fefe2p-3, 0x1.522ecf56e7952p-46},
      {0x1.b2p-1, 0x1.527e5e4a1cp-3, -0x1.4e60b8d4b411dp-44},
      {0x1.b08p-1, 0x1.59958ff1d6p-3, -0x1.a1d059769ca05p-44},
      {0x1.af4p-1, 0x1.5f830a1a5cp-3, 0x1.5226898ffc1bcp-44},
      {0x1.adcp-1, 0x1.66a5d42a3ap-3, 0x1.a68933aa00298p-44},
      {0x1.ac4p-1, 0x1.6dcf0165f8p-3, 0x1.b95669a33e4c6p-46},
      {0x1.abp-1, 0x1.73cb9074fep-3, -0x1.d66a90d0005a6p-44},
      {0x1.a98p-1, 0x1.7b00916516p-3, -0x1.ae75fcb067e57p-44},
      {0x1.a84p-1, 0x1.81070bd7bap-3, -0x1.ff00bfaccbe8dp-44},
      {0x1.a6cp-1, 0x1.884807ce56p-3, 0x1.c77cef4a8712cp-46},
      {0x1.a58p-1, 0x1.8e588ebac2p-3, 0x1.b7d5cab2d114p-44},
      {0x1.a4p-1, 0x1.95a5adcf7p-3, 0x1.7f22858a0ff6fp-47},
      {0x1.a2cp-1, 0x1.9bc062f27p-3, -0x1.e2c9f9fd864adp-46},
      {0x1.a18p-1, 0x1.a1dfc40f1cp-3, -0x1.01e0f004f3781p-44},
      {0x1.ap-1, 0x1.a93ed3c8aep-3, -0x1.8724350562169p-45},
      {0x1.9ecp-1, 0x1.af6895610ep-3, -0x1.148288bf7a937p-45},
      {0x1.9d8p-1, 0x1.b5971a213ap-3, 0x1.9b50e83aa91dfp-44},
      {0x1.9c4p-1, 0x1.bbca696b08p-3, -0x1.7fdd0ae06ceep-47},
      {0x1.9bp-1, 0x1.c2028ab18p-3, -0x1.92e0ee55c7ac6p-45},
      {0x1.998p-1, 0x1.c97f8079d4p-3, 0x1.3b161a8c6e6c5p-45},
      {0x1.984p-1, 0x1.cfc25714bep-3, -0x1.810b32c7f1bbep-46},
      {0x1.97p-1, 0x1.d60a17f904p-3, -0x1.5d6e06fc20d39p-44},
      {0x1.95cp-1, 0x1.dc56cae452p-3, 0x1.eb37aa24e1817p-44},
      {0x1.948p-1, 0x1.e2a877a6b2p-3, 0x1.823817787081ap-44},
      {0x1.934p-1, 0x1.e8ff2622bap-3, 0x1.78e13d33981e5p-44},
      {0x1.92p-1, 0x1.ef5ade4ddp-3, -0x1.a211565bb8e11p-51},
      {0x1.90cp-1, 0x1.f5bba8306p-3, 0x1.41b254a43da63p-44},
      {0x1.8f8p-1, 0x1.fc218be62p-3, 0x1.4bba46f1cf6ap-44},
      {0x1.8e8p-1, 0x1.00a1c6addap-2, 0x1.1cd8d688b9e18p-44},
      {0x1.8d4p-1, 0x1.03d95a1d67p-2, 0x1.a17880f236109p-44},
      {0x1.8cp-1, 0x1.07138604d6p-2, -0x1.e76324e912b17p-44},
      {0x1.8acp-1, 0x1.0a504e97bbp-2, 0x1.03094e6690c44p-44},
      {0x1.898p-1, 0x1.0d8fb813ebp-2, 0x1.ee8c88753fa35p-46},
      {0x1.888p-1, 0x1.102ac0a35dp-2, -0x1.f1fbddfdfd686p-45},
      {0x1.874p-1, 0x1.136ef02e83p-2, -0x1.bd05830e5825p-44},
      {0x1.86p-1, 0x1.16b5ccbadp-2, -0x1.23299042d74bfp-44},
      {0x1.85p-1, 0x1.1956d3b9bcp-2, 0x1.7d2f73ad1aa14p-45},
      {0x1.83cp-1, 0x1.1ca28c64bbp-2, -0x1.ac4f842f5566bp-46},
      {0x1.82cp-1, 0x1.1f477c7573p-2, 0x1.6d6d4010d751ap-45},
      {0x1.818p-1, 0x1.22981fbef8p-2, -0x1.a1421609580dap-44},
      {0x1.808p-1, 0x1.25410494e5p-2, 0x1.b1d7ac0ef77f2p-44},
      {0x1.7f4p-1, 0x1.2896a13e08p-2, 0x1.a8ed027e16952p-44},
      {0x1.7e4p-1, 0x1.2b4386c169p-2, -0x1.e7d8c5cbc9cf9p-47},
      {0x1.7dp-1, 0x1.2e9e2bce12p-2, 0x1.4300c128d1dc2p-45},
      {0x1.7cp-1, 0x1.314f1e1d36p-2, -0x1.8e27ad3213cb8p-45},
      {0x1.7acp-1, 0x1.34aedad5b1p-2, 0x1.a2aacf2be1fddp-44},
      {0x1.79cp-1, 0x1.3763e64645p-2, 0x1.18b1f291dcb56p-44},
      {0x1.78cp-1, 0x1.3a1ac802f3p-2, 0x1.98ecf399abd8dp-44},
      {0x1.778p-1, 0x1.3d81fb5947p-2, -0x1.22c7c2a9d37a4p-45},
      {0x1.768p-1, 0x1.403d086ceap-2, 0x1.e6ef574487308p-44},
      {0x1.758p-1, 0x1.42f9f3ff62p-2, 0x1.906440f7d3354p-44},
      {0x1.744p-1, 0x1.4668bf41fp-2, -0x1.9af1762c5a8f7p-44},
      {0x1.734p-1, 0x1.4929e8db4ep-2, 0x1.b9056556c70dep-44},
      {0x1.724p-1, 0x1.4becf95d98p-2, -0x1.bb33b20023a7p-44},
      {0x1.714p-1, 0x1.4eb1f36b07p-2, 0x1.8404746e5797bp-46},
      {0x1.704p-1, 0x1.5178d9ab55p-2, 0x1.5c1530fe963b3p-44},
      {0x1.6f4p-1, 0x1.5441aecbc6p-2, 0x1.258e66008d39bp-45},
      {0x1.6ep-1, 0x1.57bf753c8dp-2, 0x1.fadedee5d40efp-46},
      {0x1.6dp-1, 0x1.5a8cadbbeep-2, -0x1.7c79b0af7ecf8p-48},
      {0x1.6cp-1, 0x1.5d5bddf596p-2, -0x1.a0b2a08a465dcp-47},
      {0x1.6bp-1, 0x1.602d08af09p-2, 0x1.ebe9176df3f65p-46},
      {0x1.6ap-1, 0x1.630030b3abp-2, -0x1.db623e731aep-45}
  };
  // clang-format on
  return kTable[index];
}

/// log(x) for finite x > 0 as a sum with a relative error below 2^-68, 0 exactly for x = 1.
///
/// x = 2^e m with m in [181/256, 362/256), so that e ln 2 does not cancel where x is near 1. r = m c - 1 is exact as a
/// sum, and |r| < 2^-8.3. log x = e ln 2 - log c + (r - r^2/2 + r^3/3 - ...). Near 1, e = 0 and c = 1; since r is exact
/// and r^2/2 is right to 2^-79, only the r^3 tail has an error: 2^-53 r^2 relative to r.
STOPE_HD inline Sum log_sum(double x) {
  std::uint64_t bits = bits_of(x);
  std::int64_t exponent = 0;
  if (bits < 0x0010000000000000U) {  // subnormal
    bits = bits_of((Real(x) * 0x1.0p54).value);
    exponent = -54;
  }
  const std::int64_t offset = static_cast<std::int64_t>(bits - bits_of(0x1.6ap-1));
  exponent += offset >> 52;
  const Real m = from_bits(bits - (static_cast<std::uint64_t>(offset) & 0xfff0000000000000U));
  const LogEntry entry = log_entry(static_cast<std::int64_t>((m * 256.0 + 0.5).value) - 181);

  const Real m_top = from_bits(bits_of(m.value) & 0xffffffff00000000U);  // 21 bits: times the 12 of c is exact
  const Sum r = fast_two_sum(entry.factor * m_top - 1.0, entry.factor * (m - m_top));

  const Real e = static_cast<double>(exponent);
  const Real hi = e * 0x1.62e42fefa38p-1 + entry.hi;    // multiples of 2^-42 below 2^10: exact
  const Real lo = e * 0x1.ef35793c7673p-45 + entry.lo;  // ln 2 = 0x1.62e42fefa38p-1 + 0x1.ef35793c7673p-45

  const Sum part = split(r.hi);
  const Real square = part.hi * part.hi;  // exact
  const Real square_rest = (r.hi + part.hi) * part.lo + 2.0 * (r.hi * r.lo);
  const Real r2 = r.hi * r.hi;
  const Real series = ((1.0 / 3.0) - 0.25 * r.hi) +
                      r2 * ((0.2 - (1.0 / 6.0) * r.hi) + r2 * (((1.0 / 7.0) - 0.125 * r.hi) + r2 * (1.0 / 9.0)));
  const Real tail = (r2 * r.hi) * series;

  const Sum first = two_sum(hi, r.hi);
  const Sum second = two_sum(first.hi, -0.5 * square);
  const Real rest = (first.lo + second.lo) + (((lo + r.lo) - 0.5 * square_rest) + tail);
  return fast_two_sum(second.hi, rest);
}

/// The natural logarithm. log(+-0) = -inf, log(x < 0) = NaN.
STOPE_HD inline double log(double x) {
  if (x != x) return quiet_nan();
  if (x == 0.0) return -infinity();
  if (x < 0.0) return quiet_nan();
  if (x == infinity()) return x;
  return log_sum(x).hi.value;
}

}  // namespace stope::math
