int sigmoid(struct halide_buffer_t *_a_buffer, struct halide_buffer_t *_sigmoid_buffer) {
 void * const _ucon = nullptr;
 halide_maybe_unused(_ucon);
 uint64_t _0 = (uint64_t)(_sigmoid_buffer);
 uint64_t _1 = (uint64_t)(0ull);
 bool _2 = _0 != _1;
 if (!_2)
 {
  int32_t _3 = halide_error_buffer_argument_is_null(_ucon, "sigmoid");
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
 auto *_15 = _halide_buffer_get_host(_sigmoid_buffer);
 auto _sigmoid = _15;
 halide_maybe_unused(_sigmoid);
 uint32_t _16 = _halide_buffer_get_type(_sigmoid_buffer);
 bool _17 = _halide_buffer_get_device_dirty(_sigmoid_buffer);
 int32_t _18 = _halide_buffer_get_dimensions(_sigmoid_buffer);
 int32_t _19 = _halide_buffer_get_min(_sigmoid_buffer, 0);
 int32_t _20 = _halide_buffer_get_extent(_sigmoid_buffer, 0);
 int32_t _21 = _halide_buffer_get_stride(_sigmoid_buffer, 0);
 bool _22 = _halide_buffer_is_bounds_query(_a_buffer);
 if (_22)
 {
  auto *_23 = _halide_buffer_get_shape(_a_buffer);
  auto *_24 = (void *)(nullptr);
  uint64_t _25 = (uint64_t)(0ull);
  auto *_26 = (struct halide_device_interface_t *)(nullptr);
  int32_t _27 = ::halide_cpp_min(_20, 8);
  int32_t _28 = _27 + _19;
  int32_t _29 = _28 + -8;
  int32_t _30 = ::halide_cpp_max(_20, 8);
  struct halide_dimension_t s0[1] = {
   {_29, _30, 1, 0},
  };
  auto *_31 = s0;
  auto *_32 = _halide_buffer_init(_a_buffer, _23, _24, _25, _26, 2, 32, 1, _31, _25);
  halide_maybe_unused(_32);
 } // if _22
 bool _33 = _halide_buffer_is_bounds_query(_sigmoid_buffer);
 if (_33)
 {
  auto *_34 = _halide_buffer_get_shape(_sigmoid_buffer);
  auto *_35 = (void *)(nullptr);
  uint64_t _36 = (uint64_t)(0ull);
  auto *_37 = (struct halide_device_interface_t *)(nullptr);
  int32_t _38 = ::halide_cpp_min(_20, 8);
  int32_t _39 = _38 + _19;
  int32_t _40 = _39 + -8;
  int32_t _41 = ::halide_cpp_max(_20, 8);
  struct halide_dimension_t s1[1] = {
   {_40, _41, 1, 0},
  };
  auto *_42 = s1;
  auto *_43 = _halide_buffer_init(_sigmoid_buffer, _34, _35, _36, _37, 2, 32, 1, _42, _36);
  halide_maybe_unused(_43);
 } // if _33
 bool _44 = _halide_buffer_is_bounds_query(_a_buffer);
 bool _45 = _halide_buffer_is_bounds_query(_sigmoid_buffer);
 bool _46 = _44 || _45;
 bool _47 = !(_46);
 if (_47)
 {
  uint32_t _48 = (uint32_t)(73730ull);
  bool _49 = _9 == _48;
  if (!_49)
  {
   uint32_t _50 = (uint32_t)(73730ull);
   int32_t _51 = halide_error_bad_type(_ucon, "Input buffer a", _9, _50);
   return _51;
  }
  bool _52 = _11 == 1;
  if (!_52)
  {
   int32_t _53 = halide_error_bad_dimensions(_ucon, "Input buffer a", _11, 1);
   return _53;
  }
  uint32_t _54 = (uint32_t)(73730ull);
  bool _55 = _16 == _54;
  if (!_55)
  {
   uint32_t _56 = (uint32_t)(73730ull);
   int32_t _57 = halide_error_bad_type(_ucon, "Output buffer sigmoid", _16, _56);
   return _57;
  }
  bool _58 = _18 == 1;
  if (!_58)
  {
   int32_t _59 = halide_error_bad_dimensions(_ucon, "Output buffer sigmoid", _18, 1);
   return _59;
  }
  int32_t _60 = _12 + 8;
  int32_t _61 = ::halide_cpp_min(_20, 8);
  int32_t _62 = _61 + _19;
  bool _63 = _60 <= _62;
  int32_t _64 = _20 + _19;
  int32_t _65 = _13 + _12;
  bool _66 = _64 <= _65;
  bool _67 = _63 && _66;
  if (!_67)
  {
   int32_t _68 = ::halide_cpp_min(_20, 8);
   int32_t _69 = _68 + _19;
   int32_t _70 = _69 + -8;
   int32_t _71 = _20 + _19;
   int32_t _72 = _71 + -1;
   int32_t _73 = _13 + _12;
   int32_t _74 = _73 + -1;
   int32_t _75 = halide_error_access_out_of_bounds(_ucon, "Input buffer a", 0, _70, _72, _12, _74);
   return _75;
  }
  bool _76 = 0 <= _13;
  if (!_76)
  {
   int32_t _77 = halide_error_buffer_extents_negative(_ucon, "Input buffer a", 0, _13);
   return _77;
  }
  bool _78 = 8 <= _20;
  if (!_78)
  {
   int32_t _79 = _20 + _19;
   int32_t _80 = ::halide_cpp_min(_20, 8);
   int32_t _81 = _80 + _19;
   int32_t _82 = _81 + -8;
   int32_t _83 = _79 + -1;
   int32_t _84 = halide_error_access_out_of_bounds(_ucon, "Output buffer sigmoid", 0, _82, _83, _19, _83);
   return _84;
  }
  bool _85 = _14 == 1;
  if (!_85)
  {
   int32_t _86 = halide_error_constraint_violated(_ucon, "a.stride.0", _14, "1", 1);
   return _86;
  }
  bool _87 = _21 == 1;
  if (!_87)
  {
   int32_t _88 = halide_error_constraint_violated(_ucon, "sigmoid.stride.0", _21, "1", 1);
   return _88;
  }
  int64_t _89 = (int64_t)(_13);
  int64_t _90 = (int64_t)(0ll);
  int64_t _91 = _90 - _89;
  bool _92 = _89 > _90;
  int64_t _93 = (int64_t)(_92 ? _89 : _91);
  uint64_t _94 = (uint64_t)(_93);
  uint64_t _95 = _94;
  uint64_t _96 = (uint64_t)(2147483647ull);
  bool _97 = _95 <= _96;
  if (!_97)
  {
   int64_t _98 = (int64_t)(_13);
   int64_t _99 = (int64_t)(0ll);
   int64_t _100 = _99 - _98;
   bool _101 = _98 > _99;
   int64_t _102 = (int64_t)(_101 ? _98 : _100);
   uint64_t _103 = (uint64_t)(_102);
   uint64_t _104 = _103;
   uint64_t _105 = (uint64_t)(2147483647ull);
   int32_t _106 = halide_error_buffer_allocation_too_large(_ucon, "a", _104, _105);
   return _106;
  }
  int64_t _107 = (int64_t)(_20);
  int64_t _108 = (int64_t)(0ll);
  int64_t _109 = _108 - _107;
  bool _110 = _107 > _108;
  int64_t _111 = (int64_t)(_110 ? _107 : _109);
  uint64_t _112 = (uint64_t)(_111);
  uint64_t _113 = _112;
  uint64_t _114 = (uint64_t)(2147483647ull);
  bool _115 = _113 <= _114;
  if (!_115)
  {
   int64_t _116 = (int64_t)(_20);
   int64_t _117 = (int64_t)(0ll);
   int64_t _118 = _117 - _116;
   bool _119 = _116 > _117;
   int64_t _120 = (int64_t)(_119 ? _116 : _118);
   uint64_t _121 = (uint64_t)(_120);
   uint64_t _122 = _121;
   uint64_t _123 = (uint64_t)(2147483647ull);
   int32_t _124 = halide_error_buffer_allocation_too_large(_ucon, "sigmoid", _122, _123);
   return _124;
  }
  bool _125 = !(_10);
  if (!_125)
  {
   int32_t _126 = halide_error_device_dirty_with_no_device_support(_ucon, "Input buffer a");
   return _126;
  }
  bool _127 = !(_17);
  if (!_127)
  {
   int32_t _128 = halide_error_device_dirty_with_no_device_support(_ucon, "Output buffer sigmoid");
   return _128;
  }
  auto *_129 = (void *)(nullptr);
  bool _130 = _a != _129;
  if (!_130)
  {
   int32_t _131 = halide_error_host_is_null(_ucon, "Input buffer a");
   return _131;
  }
  auto *_132 = (void *)(nullptr);
  bool _133 = _sigmoid != _132;
  if (!_133)
  {
   int32_t _134 = halide_error_host_is_null(_ucon, "Output buffer sigmoid");
   return _134;
  }
  // produce sigmoid
  int32_t _135 = _20 >> 3;
  int32_t _136 = _19 - _12;
  for (int _sigmoid_s0_x_x = 0; _sigmoid_s0_x_x < 0 + _135; _sigmoid_s0_x_x++)
  {
   float _137 = float_from_bits(1065353216 /* 1 */);
   float8 _138 = float8_ops::broadcast(_137);
   float8 _139 = float8_ops::broadcast(0);
   int32_t _140 = _sigmoid_s0_x_x * 8;
   int32_t _141 = _140 + _136;
   float _142 = ((float *)_a)[_141];
   float _143 = float_from_bits(3182996027 /* -0.0901684 */);
   float _144 = _142 * _143;
   float _145 = exp_f32(_144);
   float8 _146 = float8_ops::replace(_139, 0, _145);
   int32_t _147 = _141 + 1;
   float _148 = ((float *)_a)[_147];
   float _149 = _148 * _143;
   float _150 = exp_f32(_149);
   float8 _151 = float8_ops::replace(_146, 1, _150);
   int32_t _152 = _141 + 2;
   float _153 = ((float *)_a)[_152];
   float _154 = _153 * _143;
   float _155 = exp_f32(_154);
   float8 _156 = float8_ops::replace(_151, 2, _155);
   int32_t _157 = _141 + 3;
   float _158 = ((float *)_a)[_157];
   float _159 = _158 * _143;
   float _160 = exp_f32(_159);
   float8 _161 = float8_ops::replace(_156, 3, _160);
   int32_t _162 = _141 + 4;
   float _163 = ((float *)_a)[_162];
   float _164 = _163 * _143;
   float _165 = exp_f32(_164);
   float8 _166 = float8_ops::replace(_161, 4, _165);
   int32_t _167 = _141 + 5;
   float _168 = ((float *)_a)[_167];
   float _169 = _168 * _143;
   float _170 = exp_f32(_169);
   float8 _171 = float8_ops::replace(_166, 5, _170);
   int32_t _172 = _141 + 6;
   float _173 = ((float *)_a)[_172];
   float _174 = _173 * _143;
   float _175 = exp_f32(_174);
   float8 _176 = float8_ops::replace(_171, 6, _175);
   int32_t _177 = _141 + 7;
   float _178 = ((float *)_a)[_177];
   float _179 = _178 * _143;
   float _180 = exp_f32(_179);
   float8 _181 = float8_ops::replace(_176, 7, _180);
   float8 _182 = _181;
   float8 _183 = _182 + _138;
   float8 _184 = _138 / _183;
   float8_ops::store(_184, _sigmoid, _140);
  } // for _sigmoid_s0_x_x
  int32_t _185 = _20 & 7;
  bool _186 = _185 != 0;
  if (_186)
  {
   float _187 = float_from_bits(1065353216 /* 1 */);
   float8 _188 = float8_ops::broadcast(_187);
   float8 _189 = float8_ops::broadcast(0);
   int32_t _190 = _19 + _20;
   int32_t _191 = _190 - _12;
   int32_t _192 = _191 + -8;
   float _193 = ((float *)_a)[_192];
   float _194 = float_from_bits(3182996027 /* -0.0901684 */);
   float _195 = _193 * _194;
   float _196 = exp_f32(_195);
   float8 _197 = float8_ops::replace(_189, 0, _196);
   int32_t _198 = _191 + -7;
   float _199 = ((float *)_a)[_198];
   float _200 = _199 * _194;
   float _201 = exp_f32(_200);
   float8 _202 = float8_ops::replace(_197, 1, _201);
   int32_t _203 = _191 + -6;
   float _204 = ((float *)_a)[_203];
   float _205 = _204 * _194;
   float _206 = exp_f32(_205);
   float8 _207 = float8_ops::replace(_202, 2, _206);
   int32_t _208 = _191 + -5;
   float _209 = ((float *)_a)[_208];
   float _210 = _209 * _194;
   float _211 = exp_f32(_210);
   float8 _212 = float8_ops::replace(_207, 3, _211);
   int32_t _213 = _191 + -4;
   float _214 = ((float *)_a)[_213];
   float _215 = _214 * _194;
   float _216 = exp_f32(_215);
   float8 _217 = float8_ops::replace(_212, 4, _216);
   int32_t _218 = _191 + -3;
   float _219 = ((float *)_a)[_218];
   float _220 = _219 * _194;
   float _221 = exp_f32(_220);
   float8 _222 = float8_ops::replace(_217, 5, _221);
   int32_t _223 = _191 + -2;
   float _224 = ((float *)_a)[_223];
   float _225 = _224 * _194;
   float _226 = exp_f32(_225);
   float8 _227 = float8_ops::replace(_222, 6, _226);
   int32_t _228 = _191 + -1;
   float _229 = ((float *)_a)[_228];
   float _230 = _229 * _194;
   float _231 = exp_f32(_230);
   float8 _232 = float8_ops::replace(_227, 7, _231);
   float8 _233 = _232;
   float8 _234 = _233 + _188;
   float8 _235 = _188 / _234;
   int32_t _236 = _20 + -8;
   float8_ops::store(_235, _sigmoid, _236);
  } // if _186
 } // if _47
 return 0;
}

HALIDE_FUNCTION_ATTRS
int sigmoid_argv(void **args) {
 return sigmoid(
  (halide_buffer_t *)args[0],
  (halide_buffer_t *)args[1]
);
}
HALIDE_FUNCTION_ATTRS
const struct halide_filter_metadata_t *sigmoid_metadata() {
 int64_t const *const *buffer_estimates__a = nullptr;
 const halide_scalar_value_t *scalar_def__a = nullptr;
 const halide_scalar_value_t *scalar_min__a = nullptr;
 const halide_scalar_value_t *scalar_max__a = nullptr;
 const halide_scalar_value_t *scalar_estimate__a = nullptr;
 int64_t const *const *buffer_estimates__sigmoid = nullptr;
 const halide_scalar_value_t *scalar_def__sigmoid = nullptr;
 const halide_scalar_value_t *scalar_min__sigmoid = nullptr;
 const halide_scalar_value_t *scalar_max__sigmoid = nullptr;
 const halide_scalar_value_t *scalar_estimate__sigmoid = nullptr;
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
   "sigmoid",
   halide_argument_kind_output_buffer,
   1,
   {halide_type_float, 32, 1},
   scalar_def__sigmoid,
   scalar_min__sigmoid,
   scalar_max__sigmoid,
   scalar_estimate__sigmoid,
   buffer_estimates__sigmoid,
   },
  };
 static const halide_filter_metadata_t md = {
  halide_filter_metadata_t::VERSION,
  2,
  args,
  "x86-64-linux-avx-avx2-f16c-fma-sse41",
  "sigmoid",
  };
 return &md;
}

#ifdef __cplusplus
}  // extern "C"
#endif

