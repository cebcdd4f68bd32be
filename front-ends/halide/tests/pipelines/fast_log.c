int fast_log(struct halide_buffer_t *_a_buffer, struct halide_buffer_t *_fast_log_buffer) {
 void * const _ucon = nullptr;
 halide_maybe_unused(_ucon);
 uint64_t _0 = (uint64_t)(_fast_log_buffer);
 uint64_t _1 = (uint64_t)(0ull);
 bool _2 = _0 != _1;
 if (!_2)
 {
  int32_t _3 = halide_error_buffer_argument_is_null(_ucon, "fast_log");
  return _3;
 }
 uint64_t _4 = (uint64_t)(_a_buffer);
 uint64_t _5 = (uint64_t)(0ull);
 bool _6 = _4 != _5;
 if (!_6)
 {
  int32_t _7 = halide_error_buffer_argument_is_null(_ucon, "a");
  return _7;
 }
 auto *_8 = _halide_buffer_get_host(_a_buffer);
 auto _a = _8;
 halide_maybe_unused(_a);
 uint32_t _9 = _halide_buffer_get_type(_a_buffer);
 bool _10 = _halide_buffer_get_device_dirty(_a_buffer);
 int32_t _11 = _halide_buffer_get_dimensions(_a_buffer);
 int32_t _12 = _halide_buffer_get_min(_a_buffer, 0);
 int32_t _13 = _halide_buffer_get_extent(_a_buffer, 0);
 int32_t _14 = _halide_buffer_get_stride(_a_buffer, 0);
 auto *_15 = _halide_buffer_get_host(_fast_log_buffer);
 auto _fast_log = _15;
 halide_maybe_unused(_fast_log);
 uint32_t _16 = _halide_buffer_get_type(_fast_log_buffer);
 bool _17 = _halide_buffer_get_device_dirty(_fast_log_buffer);
 int32_t _18 = _halide_buffer_get_dimensions(_fast_log_buffer);
 int32_t _19 = _halide_buffer_get_min(_fast_log_buffer, 0);
 int32_t _20 = _halide_buffer_get_extent(_fast_log_buffer, 0);
 int32_t _21 = _halide_buffer_get_stride(_fast_log_buffer, 0);
 int32_t _22 = ::halide_cpp_min(_20, 8);
 int32_t _23 = _20 + -1;
 int32_t _24 = _23 >> 3;
 int32_t _25 = _24 * 8;
 int32_t _26 = _22 + _25;
 int32_t _27 = ::halide_cpp_min(_26, _20);
 bool _28 = _halide_buffer_is_bounds_query(_a_buffer);
 if (_28)
 {
  auto *_29 = _halide_buffer_get_shape(_a_buffer);
  auto *_30 = (void *)(nullptr);
  uint64_t _31 = (uint64_t)(0ull);
  auto *_32 = (struct halide_device_interface_t *)(nullptr);
  struct halide_dimension_t s0[1] = {
   {_19, _27, 1, 0},
  };
  auto *_33 = s0;
  auto *_34 = _halide_buffer_init(_a_buffer, _29, _30, _31, _32, 2, 32, 1, _33, _31);
  halide_maybe_unused(_34);
 } // if _28
 bool _35 = _halide_buffer_is_bounds_query(_fast_log_buffer);
 if (_35)
 {
  auto *_36 = _halide_buffer_get_shape(_fast_log_buffer);
  auto *_37 = (void *)(nullptr);
  uint64_t _38 = (uint64_t)(0ull);
  auto *_39 = (struct halide_device_interface_t *)(nullptr);
  struct halide_dimension_t s1[1] = {
   {_19, _27, 1, 0},
  };
  auto *_40 = s1;
  auto *_41 = _halide_buffer_init(_fast_log_buffer, _36, _37, _38, _39, 2, 32, 1, _40, _38);
  halide_maybe_unused(_41);
 } // if _35
 bool _42 = _halide_buffer_is_bounds_query(_a_buffer);
 bool _43 = _halide_buffer_is_bounds_query(_fast_log_buffer);
 bool _44 = _42 || _43;
 bool _45 = !(_44);
 if (_45)
 {
  uint32_t _46 = (uint32_t)(73730ull);
  bool _47 = _9 == _46;
  if (!_47)
  {
   uint32_t _48 = (uint32_t)(73730ull);
   int32_t _49 = halide_error_bad_type(_ucon, "Input buffer a", _9, _48);
   return _49;
  }
  bool _50 = _11 == 1;
  if (!_50)
  {
   int32_t _51 = halide_error_bad_dimensions(_ucon, "Input buffer a", _11, 1);
   return _51;
  }
  uint32_t _52 = (uint32_t)(73730ull);
  bool _53 = _16 == _52;
  if (!_53)
  {
   uint32_t _54 = (uint32_t)(73730ull);
   int32_t _55 = halide_error_bad_type(_ucon, "Output buffer fast_log", _16, _54);
   return _55;
  }
  bool _56 = _18 == 1;
  if (!_56)
  {
   int32_t _57 = halide_error_bad_dimensions(_ucon, "Output buffer fast_log", _18, 1);
   return _57;
  }
  bool _58 = _12 <= _19;
  int32_t _59 = _27 + _19;
  int32_t _60 = _13 + _12;
  bool _61 = _59 <= _60;
  bool _62 = _58 && _61;
  if (!_62)
  {
   int32_t _63 = _27 + _19;
   int32_t _64 = _63 + -1;
   int32_t _65 = _13 + _12;
   int32_t _66 = _65 + -1;
   int32_t _67 = halide_error_access_out_of_bounds(_ucon, "Input buffer a", 0, _19, _64, _12, _66);
   return _67;
  }
  bool _68 = 0 <= _13;
  if (!_68)
  {
   int32_t _69 = halide_error_buffer_extents_negative(_ucon, "Input buffer a", 0, _13);
   return _69;
  }
  bool _70 = _27 <= _20;
  if (!_70)
  {
   int32_t _71 = _27 + _19;
   int32_t _72 = _71 + -1;
   int32_t _73 = _20 + _19;
   int32_t _74 = _73 + -1;
   int32_t _75 = halide_error_access_out_of_bounds(_ucon, "Output buffer fast_log", 0, _19, _72, _19, _74);
   return _75;
  }
  bool _76 = 0 <= _20;
  if (!_76)
  {
   int32_t _77 = halide_error_buffer_extents_negative(_ucon, "Output buffer fast_log", 0, _20);
   return _77;
  }
  bool _78 = _14 == 1;
  if (!_78)
  {
   int32_t _79 = halide_error_constraint_violated(_ucon, "a.stride.0", _14, "1", 1);
   return _79;
  }
  bool _80 = _21 == 1;
  if (!_80)
  {
   int32_t _81 = halide_error_constraint_violated(_ucon, "fast_log.stride.0", _21, "1", 1);
   return _81;
  }
  int64_t _82 = (int64_t)(_13);
  int64_t _83 = (int64_t)(0ll);
  int64_t _84 = _83 - _82;
  bool _85 = _82 > _83;
  int64_t _86 = (int64_t)(_85 ? _82 : _84);
  uint64_t _87 = (uint64_t)(_86);
  uint64_t _88 = _87;
  uint64_t _89 = (uint64_t)(2147483647ull);
  bool _90 = _88 <= _89;
  if (!_90)
  {
   int64_t _91 = (int64_t)(_13);
   int64_t _92 = (int64_t)(0ll);
   int64_t _93 = _92 - _91;
   bool _94 = _91 > _92;
   int64_t _95 = (int64_t)(_94 ? _91 : _93);
   uint64_t _96 = (uint64_t)(_95);
   uint64_t _97 = _96;
   uint64_t _98 = (uint64_t)(2147483647ull);
   int32_t _99 = halide_error_buffer_allocation_too_large(_ucon, "a", _97, _98);
   return _99;
  }
  int64_t _100 = (int64_t)(_20);
  int64_t _101 = (int64_t)(0ll);
  int64_t _102 = _101 - _100;
  bool _103 = _100 > _101;
  int64_t _104 = (int64_t)(_103 ? _100 : _102);
  uint64_t _105 = (uint64_t)(_104);
  uint64_t _106 = _105;
  uint64_t _107 = (uint64_t)(2147483647ull);
  bool _108 = _106 <= _107;
  if (!_108)
  {
   int64_t _109 = (int64_t)(_20);
   int64_t _110 = (int64_t)(0ll);
   int64_t _111 = _110 - _109;
   bool _112 = _109 > _110;
   int64_t _113 = (int64_t)(_112 ? _109 : _111);
   uint64_t _114 = (uint64_t)(_113);
   uint64_t _115 = _114;
   uint64_t _116 = (uint64_t)(2147483647ull);
   int32_t _117 = halide_error_buffer_allocation_too_large(_ucon, "fast_log", _115, _116);
   return _117;
  }
  bool _118 = !(_10);
  if (!_118)
  {
   int32_t _119 = halide_error_device_dirty_with_no_device_support(_ucon, "Input buffer a");
   return _119;
  }
  bool _120 = !(_17);
  if (!_120)
  {
   int32_t _121 = halide_error_device_dirty_with_no_device_support(_ucon, "Output buffer fast_log");
   return _121;
  }
  auto *_122 = (void *)(nullptr);
  bool _123 = _a != _122;
  if (!_123)
  {
   int32_t _124 = halide_error_host_is_null(_ucon, "Input buffer a");
   return _124;
  }
  auto *_125 = (void *)(nullptr);
  bool _126 = _fast_log != _125;
  if (!_126)
  {
   int32_t _127 = halide_error_host_is_null(_ucon, "Output buffer fast_log");
   return _127;
  }
  // produce fast_log
  int32_t _128 = _20 >> 3;
  int32_t _129 = _19 - _12;
  for (int _fast_log_s0_x_x = 0; _fast_log_s0_x_x < 0 + _128; _fast_log_s0_x_x++)
  {
   int32_t _130 = _fast_log_s0_x_x * 8;
   int32_t _131 = _130 + _129;
   float8 _132 = float8_ops::load(_a, _131);
   int32x8_t _133 = reinterpret<int32x8_t>(_132);
   int32x8_t _134 = int32x8_t_ops::broadcast(8388607);
   int32x8_t _135 = _133 & _134;
   int32x8_t _136 = int32x8_t_ops::broadcast(1065353216);
   int32x8_t _137 = _135 | _136;
   float8 _138 = reinterpret<float8>(_137);
   float _139 = float_from_bits(1051372202 /* 0.333333 */);
   float8 _140 = float8_ops::broadcast(_139);
   float8 _141 = _138 * _140;
   uint32_t _142 = (uint32_t)(23ull);
   uint32x8_t _143 = uint32x8_t_ops::broadcast(_142);
   int32x8_t _144 = _133 >> _143;
   int16_t _145 = (int16_t)(-127ll);
   int16x8_t _146 = int16x8_t_ops::broadcast(_145);
   int32x8_t _147 = int32x8_t_ops::convert_from<int16x8_t>(_146);
   int32x8_t _148 = _144 + _147;
   int32x8_t _149 = _148;
   float8 _150 = float8_ops::convert_from<int32x8_t>(_149);
   float8 _151 = _141 + _150;
   float _152 = float_from_bits(1060205080 /* 0.693147 */);
   float8 _153 = float8_ops::broadcast(_152);
   float8 _154 = _151 * _153;
   float _155 = float_from_bits(3203951752 /* -0.485203 */);
   float8 _156 = float8_ops::broadcast(_155);
   float8 _157 = _154 + _156;
   float8_ops::store(_157, _fast_log, _130);
  } // for _fast_log_s0_x_x
  int32_t _158 = _20 & 7;
  bool _159 = _158 != 0;
  if (_159)
  {
   int32_t _160 = _20 >> 3;
   int32_t _161 = _160 * 8;
   int32_t _162 = _161 + _19;
   int32_t _163 = _162 - _12;
   int32x8_t _164 = int32x8_t_ops::ramp(_163, 1);
   int32_t _165 = _162 + 1;
   int32x8_t _166 = int32x8_t_ops::ramp(_165, 1);
   int32_t _167 = _20 + _19;
   int32x8_t _168 = int32x8_t_ops::broadcast(_167);
   uint8x8_t _169 = int32x8_t_ops::le(_166, _168);
   float8 _170 = float8_ops::load_predicated(_a, _164, _169);
   int32x8_t _171 = reinterpret<int32x8_t>(_170);
   int32x8_t _172 = int32x8_t_ops::broadcast(8388607);
   int32x8_t _173 = _171 & _172;
   int32x8_t _174 = int32x8_t_ops::broadcast(1065353216);
   int32x8_t _175 = _173 | _174;
   float8 _176 = reinterpret<float8>(_175);
   float _177 = float_from_bits(1051372202 /* 0.333333 */);
   float8 _178 = float8_ops::broadcast(_177);
   float8 _179 = _176 * _178;
   uint32_t _180 = (uint32_t)(23ull);
   uint32x8_t _181 = uint32x8_t_ops::broadcast(_180);
   int32x8_t _182 = _171 >> _181;
   int16_t _183 = (int16_t)(-127ll);
   int16x8_t _184 = int16x8_t_ops::broadcast(_183);
   int32x8_t _185 = int32x8_t_ops::convert_from<int16x8_t>(_184);
   int32x8_t _186 = _182 + _185;
   int32x8_t _187 = _186;
   float8 _188 = float8_ops::convert_from<int32x8_t>(_187);
   float8 _189 = _179 + _188;
   float _190 = float_from_bits(1060205080 /* 0.693147 */);
   float8 _191 = float8_ops::broadcast(_190);
   float8 _192 = _189 * _191;
   float _193 = float_from_bits(3203951752 /* -0.485203 */);
   float8 _194 = float8_ops::broadcast(_193);
   float8 _195 = _192 + _194;
   int32x8_t _196 = int32x8_t_ops::ramp(_161, 1);
   float8_ops::store_predicated(_195, _fast_log, _196, _169);
  } // if _159
 } // if _45
 return 0;
}

HALIDE_FUNCTION_ATTRS
int fast_log_argv(void **args) {
 return fast_log(
  (halide_buffer_t *)args[0],
  (halide_buffer_t *)args[1]
);
}
HALIDE_FUNCTION_ATTRS
const struct halide_filter_metadata_t *fast_log_metadata() {
 int64_t const *const *buffer_estimates__a = nullptr;
 const halide_scalar_value_t *scalar_def__a = nullptr;
 const halide_scalar_value_t *scalar_min__a = nullptr;
 const halide_scalar_value_t *scalar_max__a = nullptr;
 const halide_scalar_value_t *scalar_estimate__a = nullptr;
 int64_t const *const *buffer_estimates__fast_log = nullptr;
 const halide_scalar_value_t *scalar_def__fast_log = nullptr;
 const halide_scalar_value_t *scalar_min__fast_log = nullptr;
 const halide_scalar_value_t *scalar_max__fast_log = nullptr;
 const halide_scalar_value_t *scalar_estimate__fast_log = nullptr;
 static const halide_filter_argument_t args[2] = {
  {
   "a",
   halide_argument_kind_input_buffer,
   1,
   {halide_type_float, 32, 1},
   scalar_def__a,
   scalar_min__a,
   scalar_max__a,
   scalar_estimate__a,
   buffer_estimates__a,
   },
  {
   "fast_log",
   halide_argument_kind_output_buffer,
   1,
   {halide_type_float, 32, 1},
   scalar_def__fast_log,
   scalar_min__fast_log,
   scalar_max__fast_log,
   scalar_estimate__fast_log,
   buffer_estimates__fast_log,
   },
  };
 static const halide_filter_metadata_t md = {
  halide_filter_metadata_t::VERSION,
  2,
  args,
  "x86-64-linux-avx-avx2-f16c-fma-sse41",
  "fast_log",
  };
 return &md;
}

#ifdef __cplusplus
}  // extern "C"
#endif

